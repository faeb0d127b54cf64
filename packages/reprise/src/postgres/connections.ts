/**
 * Connections to a server: taken from a pool, each checked once for what the ledger needs, none waited for without end.
 * Imports the driver when asked, and its own layer.
 *
 * Invariants: a connection that has failed is never used again. Only a primary is talked to: what a replica says may be
 * old. While a program's own code runs no connection is held.
 */
import type * as pg from 'pg'
import { Socket } from 'node:net'
import type { Client, Pool, PoolClient, PoolConfig } from 'pg'
import { LedgerError } from '../ledger/errors.js'
import type { SqlRow } from '../ledger/rows.js'
import type { PostgresAddress } from './address.js'
import { Availability } from './availability.js'
import { failureKind } from './failures.js'
import type { ServerTime } from './server-time.js'

/** The package, as it is imported. */
export type Driver = Pick<typeof pg, 'Client' | 'Pool'>

/** A statement that connections prepare once, by its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Statements for one schema, which stands in their texts as `$.`, before the name of a table. */
export function statementsFor<N extends string>(
  sql: Readonly<Record<N, string>>,
  schema: string,
  prefix: string,
): Readonly<Record<N, Statement>> {
  const entries = Object.entries<string>(sql).map(([name, text]) => {
    const statement: Statement = { name: `${prefix}${name}`, text: text.replaceAll('$.', `${schema}.`) }
    return [name, statement] as const
  })
  return Object.fromEntries(entries) as Record<N, Statement>
}

export interface Connection {
  query(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>
}

/** Booleans and lists come too. */
export type Row = Readonly<Record<string, SqlRow[string] | boolean | readonly number[]>>

/** So long a statement may take, and a lock be waited for, before it is given up and tried again. */
const STATEMENT_MS = 20_000
const LOCK_MS = 10_000
const CONNECT_MS = 10_000
const IDLE_MS = 30_000
/** So long a connection is kept at hand. */
const WARM_MS = 100
const OLDEST_SERVER = 130_000
/** How long an end waits for what is under way; of a server that is known to be away, only for the answer that may come. */
const [CLOSE_MS, CLOSE_AWAY_MS] = [10_000, 1000]

/** Statements are few and their indexes known: plans are made once, and do not turn to reading whole tables. */
const SETTINGS = `
  SET statement_timeout = ${STATEMENT_MS};
  SET lock_timeout = ${LOCK_MS};
  SET idle_in_transaction_session_timeout = ${STATEMENT_MS};
  SET default_transaction_isolation = 'read committed';
  SET plan_cache_mode = force_generic_plan;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET jit = off;
`
const CHECK = `SELECT pg_is_in_recovery() AS is_replica, current_setting('server_version_num')::int AS version`

export class PooledConnection implements Connection {
  readonly client: PoolClient
  private readonly prepares: boolean

  constructor(client: PoolClient, prepares: boolean) {
    this.client = client
    this.prepares = prepares
  }

  async query(statement: Statement | string, values: readonly unknown[] = []): Promise<Row[]> {
    const given = typeof statement === 'string' ? { text: statement } : statement
    const named = typeof statement !== 'string' && this.prepares ? { name: statement.name } : {}
    const { rows } = await this.client.query({ ...named, text: given.text, values: [...values] })
    return rows as Row[]
  }
}

export class Connections {
  readonly availability = new Availability()
  private readonly pool: Pool
  private readonly address: PostgresAddress
  private readonly prepares: boolean
  private readonly checked = new WeakSet<PoolClient>()
  private readonly broken = new WeakSet<PoolClient>()
  private readonly warm: PooledConnection[] = []
  private cooling: NodeJS.Timeout | undefined = undefined
  private isEnding = false
  private isCut = false
  private readonly time: ServerTime
  /** Those that are open: the driver leaves one that could not log in, and the server keeps it for a minute. */
  private readonly sockets = new Set<Socket>()
  private readonly driver: Driver

  constructor(driver: Driver, address: PostgresAddress, time: ServerTime, prepares: boolean) {
    this.driver = driver
    this.address = address
    this.time = time
    this.prepares = prepares
    this.pool = new driver.Pool(this.config())
    // An idle connection that breaks is dropped by the pool; whoever needs one gets another.
    this.pool.on('error', () => undefined)
    // What fails while nobody waits for an answer is heard of with the next question. From the first moment on: who is
    // let in and thrown out at once hears both in one breath, and before whoever asked for the connection has it.
    this.pool.on('connect', (client) => {
      client.on('error', () => this.broken.add(client))
      client.once('end', () => this.broken.add(client))
    })
  }

  /** Lends a connection; one that failed is not given back. */
  async with<T>(use: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const { availability } = this
    availability.asked()
    const connection = this.warmOne() ?? (await this.connect())
    let isBroken = false
    try {
      const answer = await use(connection)
      availability.answered()
      return answer
    } catch (error) {
      isBroken = failureKind(error) === 'lost'
      if (isBroken) availability.failed(error)
      else availability.answered()
      throw error
    } finally {
      if (isBroken || this.isEnding) connection.client.release(isBroken)
      else this.keepWarm(connection)
    }
  }

  private async connect(): Promise<PooledConnection> {
    if (this.isCut) throw this.closed()
    const client = await this.pool.connect().catch((error: unknown) => {
      this.availability.failed(error)
      throw error
    })
    const connection = new PooledConnection(client, this.prepares)
    if (this.checked.has(client)) return connection
    try {
      await this.check(client, connection)
      return connection
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  private warmOne(): PooledConnection | undefined {
    for (;;) {
      const connection = this.warm.pop()
      if (connection === undefined || !this.broken.has(connection.client)) return connection
      connection.client.release(true)
    }
  }

  /** The pool does much at every turn: what is wanted again at once does not go there in between. */
  private keepWarm(connection: PooledConnection): void {
    // Somebody waits for one.
    if (this.pool.waitingCount > 0) {
      connection.client.release()
      return
    }
    this.warm.push(connection)
    this.cooling ??= setTimeout(() => this.cool(), WARM_MS).unref()
  }

  private cool(): void {
    this.cooling = undefined
    for (const { client } of this.warm.splice(0)) client.release(this.broken.has(client))
  }

  /** One beside the pool, for whoever listens, or looks for long. It is not checked. */
  async single(statementMs = STATEMENT_MS): Promise<Client> {
    const client = new this.driver.Client({ ...this.config(), query_timeout: statementMs + 5000 })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /**
   * `last`: what is still asked. What is under way on a server that does not answer is cut off after a while, and nobody
   * knows whether it was written: every question fails then, and no other is asked.
   */
  async end(last: () => Promise<void> = async () => undefined): Promise<void> {
    const cut = (): void => {
      this.isCut = true
      for (const socket of this.sockets) socket.destroy()
    }
    const timer = setTimeout(cut, this.availability.isAway ? CLOSE_AWAY_MS : CLOSE_MS)
    await last()
    this.isEnding = true
    this.availability.end()
    clearTimeout(this.cooling)
    this.cool()
    await this.pool.end()
    clearTimeout(timer)
    for (const socket of this.sockets) socket.destroy()
  }

  private closed(): LedgerError {
    return new LedgerError('closed', `The ledger ${this.address.name} is closed`)
  }

  private config(): PoolConfig {
    const stream = (): Socket => {
      const socket = new Socket()
      this.sockets.add(socket)
      // The pool opens another connection when one fails that somebody waits for.
      if (this.isCut) setImmediate(() => socket.destroy(this.closed()))
      return socket.once('close', () => this.sockets.delete(socket))
    }
    return { ...configOf(this.address), stream }
  }

  private async check(client: PoolClient, connection: PooledConnection): Promise<void> {
    const sentAtMs = this.time.sentAtMs
    await connection.query(SETTINGS)
    const [found] = await connection.query(`${CHECK}, ${NOW}`)
    if (found?.['is_replica'] === true) throw refusal(this.address.name, 'it is a replica: name the primary')
    if ((found?.['version'] as number) < OLDEST_SERVER) {
      throw refusal(this.address.name, 'the server is older than PostgreSQL 13: update it')
    }
    this.time.heard(found?.['now'] as number, sentAtMs)
    this.checked.add(client)
  }
}

/** In milliseconds, with their fractions. */
export const CLOCK = 'extract(epoch FROM clock_timestamp())::float8 * 1000'
export const NOW = `${CLOCK} AS now`

function refusal(name: string, cure: string): LedgerError {
  return new LedgerError('unusable', `The ledger ${name} cannot be opened: ${cure}`)
}

function configOf({ connectionString, connections }: PostgresAddress): PoolConfig & { pipeline: boolean } {
  return {
    connectionString,
    application_name: 'reprise',
    max: connections,
    // What belongs together is sent together, and answered together.
    pipeline: true,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: STATEMENT_MS + 5000,
    keepAlive: true,
    allowExitOnIdle: true,
    types: { getTypeParser },
  }
}

const BIGINT = 20

/** Keys and counts are within what a number holds; everything else is text or a number by itself. */
export function getTypeParser(type: number): (value: string) => unknown {
  return PARSERS[type] ?? ((value) => value)
}

const PARSERS: Readonly<Record<number, (value: string) => unknown>> = {
  16: (value) => value === 't',
  [BIGINT]: Number,
  21: Number,
  23: Number,
  701: Number,
  // An array of bigint.
  1016: (value) => (value === '{}' ? [] : value.slice(1, -1).split(',').map(Number)),
}
