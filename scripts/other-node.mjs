/**
 * Other versions of Node, from npm and kept in the user's cache: `node scripts/other-node.mjs VERSION…` installs them
 * where they are missing and prints the paths of the programs; without a version, all that tests use. Imports Node.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of each line one whose own SQLite is missing or too old, and the newest. */
export const VERSIONS = /** @type {const} */ (['20.19.6', '22.12.0', '22.23.3', '24.10.0', '24.21.0'])

/** Of npm, for this system: linux, darwin or win, x64 or arm64. */
const NAME = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** The program of that version; installs it where it is missing. @param {string} version */
export function otherNode(version) {
  const caches = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  const prefix = path.join(caches, 'reprise-ci', `node-${version}`)
  const program = path.join(prefix, 'node_modules', NAME, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(program)) {
    const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', `${NAME}@${version}`]
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  return program
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const versions = process.argv.slice(2)
  for (const version of versions.length > 0 ? versions : VERSIONS) console.log(otherNode(version))
}
