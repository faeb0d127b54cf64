/**
 * What is done to a PostgreSQL server while others work on it: backends terminated, and the log of what is written ahead
 * made to fail, by a tracer that answers its system calls with an error. Imports pg, Node and the server.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import type { PostgresServer } from './server.js'

/** Connected to a server, as somebody who is not of those who work. */
export class Operator {
  private readonly client: pg.Client

  private constructor(client: pg.Client) {
    this.client = client
  }

  /** Waits for a server that recovers from a crash. */
  static async connect(url: string): Promise<Operator> {
    const endMs = performance.now() + 30_000
    for (;;) {
      const client = new pg.Client({ connectionString: url })
      // The server may be stopped meanwhile; whoever asks then hears of it.
      client.on('error', () => undefined)
      try {
        await client.connect()
        return new Operator(client)
      } catch (error) {
        const isStarting = /starting up|recovery|shutting down|terminated|ECONNRESET/.test(String(error))
        if (!isStarting || performance.now() > endMs) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async query<T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.client.query<T>(sql, [...values])).rows
  }

  /** Those connected to a database, and whether they commit: by COMMIT, or at the end of a statement that writes. */
  backends(database: string): Promise<{ pid: number; isCommitting: boolean }[]> {
    const sql = `SELECT pid, state = 'active' AND query ~* '^\\s*COMMIT|\\m(UPDATE|INSERT INTO|DELETE FROM)\\M'
      AND coalesce(wait_event_type, '') <> 'Lock' AS "isCommitting" FROM pg_stat_activity
      WHERE datname = $1 AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
    return this.query(sql, [database])
  }

  /** Every commit takes so long that it can be met on its way. */
  async slowCommits(database: string, delayMs: number): Promise<void> {
    await this.query(`ALTER DATABASE ${database} SET commit_siblings = 0`)
    await this.query(`ALTER DATABASE ${database} SET commit_delay = ${delayMs * 1000}`)
  }

  /** Ends one of those that work, one that commits if there is one soon; answers what it was at. */
  async terminate(database: string, random: () => number, looks = 0): Promise<'committing' | 'other' | 'nobody'> {
    const all = await this.backends(database)
    const committing = all.filter(({ isCommitting }) => isCommitting)
    if (committing.length === 0 && looks > 0) return this.terminate(database, random, looks - 1)
    const among = committing.length > 0 ? committing : all
    const victim = among[Math.floor(random() * among.length)]
    if (victim === undefined) return 'nobody'
    const [row] = await this.query<{ ended: boolean }>('SELECT pg_terminate_backend($1) AS ended', [victim.pid])
    if (row === undefined || !row.ended) return 'nobody'
    return victim.isCommitting ? 'committing' : 'other'
  }

  async end(): Promise<void> {
    // One whose server is gone has nothing to say goodbye to.
    await this.client.end().catch(() => undefined)
  }
}

/** What fails: making the log durable, or writing at all (the log or a table, whichever comes first). */
export type WriteFault = 'fdatasync' | 'pwrite64'

/** The server and everybody it has started. */
function processesOf(server: PostgresServer): number[] {
  const parentOf = (pid: string): number => {
    try {
      return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    } catch {
      return 0
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return [server.pid ?? 0, ...pids.filter((pid) => parentOf(pid) === server.pid).map(Number)]
}

/** From now on the next such call of every process of the server fails with EIO, until it is healed. */
export class BrokenDisk {
  private readonly server: PostgresServer
  private readonly tracer: ChildProcess
  private readonly ended: Promise<void>
  private said = ''

  constructor(server: PostgresServer, call: WriteFault) {
    this.server = server
    const attach = processesOf(server).flatMap((pid) => ['-p', String(pid)])
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO`]
    this.tracer = spawn('strace', ['-f', ...attach, ...inject], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.tracer.stderr?.on('data', (text: Buffer) => (this.said += text.toString()))
    this.ended = new Promise((resolve) => this.tracer.once('close', () => resolve()))
  }

  /** How many calls have failed. */
  get failures(): number {
    return this.said.split('(INJECTED)').length - 1
  }

  get isAttached(): boolean {
    return this.said.includes(' attached')
  }

  async heal(): Promise<void> {
    this.tracer.kill('SIGTERM')
    await this.ended
    this.server.lookAround()
  }
}

/** Whether a process can be traced here that somebody else started. */
export function canTrace(): boolean {
  const sleeper = spawn('sleep', ['20'], { stdio: 'ignore' })
  try {
    const script = `strace -o /dev/null -p ${sleeper.pid} & tracer=$!; sleep 0.3; kill -0 $tracer && kill $tracer`
    execFileSync('sh', ['-c', script], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    sleeper.kill('SIGKILL')
  }
}
