/**
 * Other versions of Node, from npm and kept in the user's cache: `node scripts/other-node.mjs VERSION` prints the path of
 * the program. Exported for the tests that run on several versions. Imports Node.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

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
  const [version] = process.argv.slice(2)
  if (version === undefined) throw new Error('which version? node scripts/other-node.mjs 24.21.0')
  console.log(otherNode(version))
}
