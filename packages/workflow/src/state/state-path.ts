/**
 * Which directory has the logs of a ledger's runs. Ids of runs are unique in a ledger only: ledgers on servers, of which
 * many are used from one directory, have one each. Its name tells nobody a password or a user. Imports Node.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'

export const STATE_NAME = '.reprise'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Of an address: beside a ledger that is a file, or the directory it is in, if that is one already; for a ledger on a
 * server its own within that of the working directory.
 */
export function statePathFor(store: string, cwd: string, environment: Environment = process.env): string {
  const here = path.join(cwd, STATE_NAME)
  const [, file] = /^sqlite:(.+)$/s.exec(store) ?? []
  if (file === undefined) return path.join(here, serverDirectory(store, environment) ?? '')
  const directory = path.dirname(path.resolve(cwd, file))
  return path.basename(directory) === STATE_NAME ? directory : path.join(directory, STATE_NAME)
}

/** The same for every way to write the same address. What is no address is told by whoever opens it. */
function serverDirectory(store: string, environment: Environment): string | undefined {
  if (!/^postgres(?:ql)?:\/\//.test(store) || !URL.canParse(store)) return undefined
  const { hostname, port, pathname, username, searchParams } = new URL(store)
  const of = (...values: (string | null | undefined)[]): string => values.find((value) => value) ?? ''
  // In the order in which the driver takes them.
  const host = of(searchParams.get('host'), decoded(hostname), environment['PGHOST'], 'localhost').toLowerCase()
  const user = of(searchParams.get('user'), decoded(username), environment['PGUSER'], environment['USER'])
  const database = of(decoded(pathname.slice(1)), environment['PGDATABASE'], user)
  const at = of(searchParams.get('port'), port, environment['PGPORT'], '5432')
  const place = `${host}:${at}/${database}?schema=${of(searchParams.get('schema'), 'reprise')}`
  return `postgres-${createHash('sha256').update(place).digest('hex').slice(0, 12)}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
