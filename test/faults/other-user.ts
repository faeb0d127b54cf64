/** A user without rights, for tests that root runs: root may read and write everything. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const OTHER_USER = 65_534

export const isRoot = process.getuid?.() === 0

/** That user reads the checkout as well; in a home directory of root it may not. */
export const canBeOtherUser =
  isRoot &&
  spawnSync(process.execPath, ['-e', `require('fs').readFileSync(process.argv[1])`, fileURLToPath(import.meta.url)], {
    cwd: '/',
    uid: OTHER_USER,
    gid: OTHER_USER,
  }).status === 0

export const OTHER_USER_NEED = '(skipped: needs root, and a checkout that other users may read)'
