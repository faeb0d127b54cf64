/**
 * Opens a schema of a PostgreSQL database as a ledger: the driver, the connections, the schema. Imports core,
 * the ledger's port and its own layer.
 */
import { createRequire } from 'node:module'
import { CLOCK, expectOptions, FLAG, type OptionCheck } from '../core/options.js'
import type { Clock } from '../core/time.js'
import { LedgerError } from '../ledger/errors.js'
import { LedgerTime } from '../ledger/ledger-time.js'
import { addressOf, type PostgresAddress } from './address.js'
import { type Connection, Connections, type Driver } from './connections.js'
import { failureKind, ledgerFailure, MAX_WAIT_MS } from './failures.js'
import { expectMigrated, migrate, schemaState } from './migrations.js'
import { pause } from './pause.js'
import { PostgresLedger } from './postgres-ledger.js'
import { ServerTime } from './server-time.js'

/** Options of `openPostgres`. */
export interface PostgresOptions {
  /** In place of the server's time; for tests. @default the server's time @example { clock: virtualClock() } */
  readonly clock?: Clock | undefined
  /** Whether a schema that is not there is made. @default true @example { create: false } */
  readonly create?: boolean
  /**
   * Whether the schema is made, or brought up to date, where that is needed; else it is refused.
   * @default true
   * @example { migrate: false }
   */
  readonly migrate?: boolean
  /**
   * Whether statements are prepared by name. Use `false` behind a pooler that cannot follow.
   * @default true
   * @example { prepare: false }
   */
  readonly prepare?: boolean
}

const CHECKS: Readonly<Record<keyof PostgresOptions, OptionCheck>> = {
  clock: CLOCK,
  create: FLAG,
  migrate: FLAG,
  prepare: FLAG,
}

/**
 * Opens a store in a PostgreSQL database: `postgres://user:password@host:port/database`, with `?schema=NAME` and
 * `connections=N` where wanted. Rejects with a `LedgerError` if it cannot be opened.
 * @example
 * const store = await openPostgres('postgres://app@localhost/orders?schema=reprise', { prepare: false })
 * const tasks = await openDurable(store)
 */
export async function openPostgres(given: string, options: PostgresOptions = {}): Promise<PostgresLedger> {
  expectOptions('openPostgres', options, CHECKS)
  const address = addressOf(given)
  const time = new ServerTime(options.clock && new LedgerTime(options.clock))
  const connections = new Connections(loadDriver(address), address, time, options.prepare ?? true)
  try {
    await patiently(() => connections.with((connection) => prepareSchema(connection, address, options)))
    return new PostgresLedger(address, connections, time)
  } catch (error) {
    await connections.end()
    throw ledgerFailure(address.name, 'opened', error)
  }
}

async function prepareSchema(
  connection: Connection,
  { schema, name }: PostgresAddress,
  { create = true, migrate: mayMigrate = true }: PostgresOptions,
): Promise<void> {
  if (!create && (await schemaState(connection, schema, name)).version === 0) {
    throw new LedgerError('missing', `There is no ledger ${name}`)
  }
  await (mayMigrate ? migrate : expectMigrated)(connection, schema, name)
}

/**
 * Where there is no `navigator`, as on Node 20, the driver makes a `Response` to see whether it runs in a worker of some
 * cloud, which loads all of `fetch`: half of what its import costs. It is asked for while there is one, and in one go, so
 * that nobody else sees it.
 */
export function loadDriver({ name }: Pick<PostgresAddress, 'name'>): Driver {
  const host = globalThis as { navigator?: unknown }
  const isMissing = host.navigator === undefined
  if (isMissing) Object.defineProperty(host, 'navigator', { value: {}, configurable: true })
  try {
    return createRequire(import.meta.url)('pg') as Driver
  } catch (error) {
    throw new LedgerError('missing_driver', `The ledger ${name} needs the package pg: npm install pg`, error)
  } finally {
    if (isMissing) delete host.navigator
  }
}

/** A server that is just starting says so. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  const startMs = performance.now()
  for (let failures = 1; ; failures++) {
    try {
      return await act()
    } catch (error) {
      const isStarting = (error as { code?: string } | null)?.code === '57P03' || failureKind(error) === 'again'
      if (!isStarting || performance.now() - startMs > MAX_WAIT_MS) throw error
    }
    await pause(failures)
  }
}
