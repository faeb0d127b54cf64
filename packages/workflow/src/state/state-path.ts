/**
 * Which directory has the logs of a store's runs. Ids of runs are unique within one store only, so two stores never share
 * a directory. The name of a directory contains neither a password nor a user. Imports Node.
 */
import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import path from 'node:path'

export const STATE_NAME = '.reprise'
/** The store that is used when none is named: its logs are directly in `.reprise`. */
const DEFAULT_FILE = 'ledger.db'
/** As many symbolic links as Linux follows. */
const MAX_LINKS = 40

type Environment = Readonly<Record<string, string | undefined>>

/**
 * For a SQLite file the `.reprise` beside it, or the one it is in, and in that a directory with the name of the file. For
 * a store on a server a directory of its own in the `.reprise` of the working directory.
 */
export function statePathFor(store: string, cwd: string, environment: Environment = process.env): string {
  const here = path.join(cwd, STATE_NAME)
  const [, name] = /^sqlite:(.+)$/s.exec(store) ?? []
  if (name === undefined) return path.join(here, serverDirectory(store, environment) ?? '')
  const file = withoutLinks(path.resolve(cwd, name))
  const directory = path.dirname(file)
  if (path.basename(directory) !== STATE_NAME) return path.join(directory, STATE_NAME, fileDirectory(file))
  return path.basename(file) === DEFAULT_FILE ? directory : path.join(directory, fileDirectory(file))
}

/** Never the name of the file itself, which may be in the same `.reprise`. */
function fileDirectory(file: string): string {
  return `sqlite-${path.basename(file)}`
}

/**
 * The file that SQLite opens under this path, whether it exists yet or not: a store has one directory however it is
 * called. A link within `.reprise` is not followed, since a store there is refused if it is a link.
 */
function withoutLinks(file: string): string {
  let target = file
  for (let link = 0; link < MAX_LINKS; link++) {
    if (path.basename(path.dirname(target)) === STATE_NAME) return target
    try {
      target = path.resolve(path.dirname(target), readlinkSync(target))
    } catch {
      return target
    }
  }
  return file
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
