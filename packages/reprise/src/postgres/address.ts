/**
 * An address `postgres://…` as what the driver needs and what people may read. Beside the parameters that libpq knows it
 * may name the ledger's `schema` and the number of `connections`. Imports the ledger's errors.
 */
import { nearest } from '../core/suggest.js'
import { LedgerError } from '../ledger/errors.js'
import { DEFAULT_SCHEMA, expectSchemaName } from './schema-name.js'

export interface PostgresAddress {
  /** For the driver: without what is ours. */
  readonly connectionString: string
  readonly schema: string
  readonly connections: number
  /** For people: without a password. */
  readonly name: string
}

const POSTGRES_SCHEME = /^postgres(?:ql)?:\/\//

const DEFAULT_CONNECTIONS = 6
const LEAST_CONNECTIONS = 2
const MOST_CONNECTIONS = 200

export function addressOf(address: string): PostgresAddress {
  const url = urlOf(address)
  for (const name of url.searchParams.keys()) expectParameter(name)
  const schema = expectSchemaName(url.searchParams.get('schema') ?? DEFAULT_SCHEMA)
  const connections = connectionsOf(url.searchParams.get('connections'))
  url.searchParams.delete('schema')
  url.searchParams.delete('connections')
  return { connectionString: url.href, schema, connections, name: nameOf(url, schema) }
}

function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && POSTGRES_SCHEME.test(address)) return url
  const example = 'postgres://user:password@host:5432/database'
  throw new LedgerError('refused', `The address of the PostgreSQL ledger cannot be read: write it as ${example}`)
}

/** Ours, and those that the driver or libpq know. One that is misspelt would be another ledger, or no TLS. */
const PARAMETERS = [
  'schema',
  'connections',
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'connect_timeout',
  'options',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'uselibpqcompat',
  'channel_binding',
  'gssencmode',
  'target_session_attrs',
  'keepalives',
  'keepalives_idle',
  'pgbouncer',
] as const

function expectParameter(name: string): void {
  if ((PARAMETERS as readonly string[]).includes(name)) return
  const near = nearest(name, PARAMETERS)
  const hint = near === undefined ? `say one of ${PARAMETERS.join(', ')}` : `did you mean ${near}?`
  throw new LedgerError('refused', `The address of the PostgreSQL ledger has an unknown parameter ${name}: ${hint}`)
}

function connectionsOf(given: string | null): number {
  if (given === null) return DEFAULT_CONNECTIONS
  const count = Number(given)
  if (Number.isSafeInteger(count) && count >= LEAST_CONNECTIONS && count <= MOST_CONNECTIONS) return count
  const rule = `a whole number of ${LEAST_CONNECTIONS} to ${MOST_CONNECTIONS}`
  throw new LedgerError('refused', `connections=${given} in the address of a PostgreSQL ledger must be ${rule}`)
}

/** What follows the question mark may hold secrets too. */
function nameOf({ username, host, pathname }: URL, schema: string): string {
  // A password with a slash ends the host early, and the rest of it is taken for a path.
  if (pathname.includes('@')) return 'postgres://…'
  const user = username === '' ? '' : `${username}@`
  return `postgres://${user}${host}${pathname}${schema === DEFAULT_SCHEMA ? '' : `?schema=${schema}`}`
}
