/**
 * Hints between processes by LISTEN and NOTIFY: a task is due at once. They may be lost and cost a commit, so they are
 * few, outside the transactions they are about, and nothing depends on them: who hears none looks by himself now and
 * then. Imports its own layer.
 *
 * Invariant: listening keeps no process alive, and a connection that is lost is made again.
 */
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { Connections } from './connections.js'
import { pauseMs } from './pause.js'
import type { Reader } from './reader.js'
import type { Statements } from './statements.js'

/** At most so often; what comes meanwhile is one hint at the end of it. */
const QUIET_MS = 50

export class Hints {
  readonly channel: string
  private readonly connections: Connections
  private readonly reader: Reader
  private readonly sql: Statements
  /** So that nobody wakes himself. */
  private readonly self = randomUUID()
  private readonly listeners = new Set<() => void>()
  private client: Client | undefined = undefined
  private connecting: Promise<void> | undefined = undefined
  private isClosed = false
  private isQuiet = false
  private isWaiting = false

  constructor(schema: string, connections: Connections, reader: Reader, sql: Statements) {
    this.channel = `reprise_${schema}`
    this.connections = connections
    this.reader = reader
    this.sql = sql
  }

  async listen(heard: () => void): Promise<() => void> {
    this.listeners.add(heard)
    if (this.client === undefined) this.connecting ??= this.connect()
    await this.connecting
    return () => {
      this.listeners.delete(heard)
      if (this.listeners.size === 0) this.leave()
    }
  }

  /** Something is due at once that another process might do. */
  tell(): void {
    if (this.isQuiet || this.isClosed) {
      this.isWaiting = true
      return
    }
    this.isQuiet = true
    // Who hears nothing looks by himself.
    this.reader.write(this.sql.notify, [this.channel, this.self]).catch(() => undefined)
    setTimeout(() => {
      this.isQuiet = false
      if (!this.isWaiting) return
      this.isWaiting = false
      this.tell()
    }, QUIET_MS).unref()
  }

  close(): void {
    this.isClosed = true
    this.leave()
  }

  private leave(): void {
    const { client } = this
    this.client = undefined
    client?.end().catch(() => undefined)
  }

  /** Polling goes on meanwhile, so nobody is kept waiting for it. */
  private async connect(failures = 0): Promise<void> {
    try {
      // Who came while the last one left is connected too.
      while (this.isWanted) await this.connectOnce()
      this.connecting = undefined
    } catch {
      this.connectLater(failures + 1)
    }
  }

  private connectLater(failures: number): void {
    // What was said meanwhile was not heard.
    const again = (): void => void this.connect(failures).finally(() => this.wakeAll())
    this.connecting = Promise.resolve()
    setTimeout(again, pauseMs(failures)).unref()
  }

  private get isWanted(): boolean {
    return !this.isClosed && this.listeners.size > 0 && this.client === undefined
  }

  private wakeAll(): void {
    for (const heard of this.listeners) heard()
  }

  private async connectOnce(): Promise<void> {
    const client = await this.connections.single()
    client.on('notification', ({ payload }) => {
      if (payload !== this.self) this.wakeAll()
    })
    client.once('end', () => {
      if (this.client !== client) return
      this.client = undefined
      this.connectLater(1)
    })
    try {
      await client.query(`LISTEN ${this.channel}`)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
    if (!this.isWanted) {
      await client.end()
      return
    }
    // The types do not know it.
    ;(client as Client & { unref(): void }).unref()
    this.client = client
  }
}
