/**
 * The floor: the same rows, committed as often and as durably, written by hand over the same driver, and nothing else. One
 * connection, one prepared statement for each kind of group with arrays for its columns, its rows locked first and in
 * order; what is asked for while a group is on its way makes the next one. No fences, leases, decisions, history of owners
 * or waking of others. Imports pg and its statements.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { type Column, SCHEMA, SETTINGS, STATEMENTS, TABLES } from './floor-sql.js'
import { inLanes } from './turn.mjs'

const OWNER = randomUUID()
const NO_INPUT = 0
const AHEAD = 5
const PAGE = 1000

interface Task {
  readonly id: string
  readonly startedAtMs: number
  attempt: number
  readonly pk: number
}

/** What the library keeps of a task between its attempts, as short as it can be. */
function progress(attempt: number, startedAtMs: number | null): string {
  const retry = { seed: 123456789, launched: attempt, failures: attempt - 1, lastDelayMs: 0, totalDelayMs: 0 }
  const current = startedAtMs === null ? null : { attempt, startedAtMs, execution: 1 }
  return JSON.stringify({ retry: { ...retry, deadlineAtMs: null, resumed: false }, current, interruptions: 0 })
}

type Row = readonly (string | number | null)[]
type Kind = Exclude<keyof typeof STATEMENTS, 'due'>

interface Asked {
  readonly kind: Kind
  readonly row: Row
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Floor {
  private readonly url: string
  private readonly client: pg.Client
  /** To record in bulk. */
  private second: Promise<pg.Client> | undefined = undefined
  private asked: Asked[] = []
  private isFlushing = false
  /** Taken in blocks by who shares them; here there is nobody else. */
  private nextPk = Date.now() * 1000

  private constructor(url: string, client: pg.Client) {
    this.url = url
    this.client = client
  }

  static async open(url: string): Promise<Floor> {
    return new Floor(url, await connected(url))
  }

  /** One commit with its intent, one with its outcome; `width` at once share them. */
  steps(count: number, width: number): Promise<void> {
    return inLanes(count, width, async () => {
      const task = await this.begun()
      await this.commit('succeed', succeeded(task.pk, task.attempt, task.startedAtMs))
    })
  }

  run(count: number, width: number): Promise<void> {
    return this.steps(count, width)
  }

  failing(count: number, width: number): Promise<void> {
    return inLanes(count, width, async () => {
      const task = await this.begun()
      for (; task.attempt < 4; task.attempt++) {
        const now = Date.now()
        await this.commit('again', [progress(task.attempt + 1, now), now, ...failure(task, now)])
      }
      const now = Date.now()
      await this.commit('fail', [task.id, progress(4, null), now, ...failure(task, now)])
    })
  }

  /** A thousand to a statement over two connections, as one who records in bulk does. */
  async record(count: number, delayMs = 0): Promise<void> {
    this.second ??= connected(this.url)
    const clients = [this.client, await this.second]
    await inLanes(Math.ceil(count / PAGE), 2, async (page) => {
      const client = clients.pop() ?? this.client
      const [now, waiting, first] = [Date.now(), progress(0, null), page * PAGE]
      const rows = Array.from({ length: Math.min(PAGE, count - first) }, (_, i): Row => {
        const ids = [this.nextPk++, randomUUID(), String(first + i), randomUUID()]
        return [...ids, now, 'waiting', now + delayMs, null, 0, waiting]
      })
      await this.send('insert', rows, client)
      clients.push(client)
    })
  }

  /** Claimed ahead, a few times as many as run at once; their outcomes are committed with the claim of the next. */
  work(_count: number, width: number): Promise<void> {
    return this.drain(width * AHEAD)
  }

  private async drain(limit: number, begin?: (index: number) => void): Promise<void> {
    let ended: Row[] = []
    do {
      const now = Date.now()
      const { rows } = await this.client.query<{ pk: string; input: string }>({
        name: 'due',
        text: STATEMENTS.due.text,
        values: [OWNER, progress(1, now), now, limit, ...columnsOf(ended, STATEMENTS.due.columns)],
      })
      if (begin !== undefined) for (const { input } of rows) begin(Number(input))
      ended = rows.map(({ pk }) => succeeded(pk, 1, now))
    } while (ended.length > 0)
  }

  async wait(count: number): Promise<void> {
    await this.record(count, 3_600_000)
    await this.record(1)
  }

  /** Takes what was running for lost: there is only one process. */
  async serve(begin: (index: number) => void, width: number): Promise<void> {
    await this.client.query(`UPDATE tasks SET status = 'waiting', due_at = updated_at WHERE status = 'running'`)
    for (;;) {
      await this.drain(width, begin)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async close(): Promise<void> {
    await this.client.end()
    await (await this.second)?.end()
  }

  private async begun(): Promise<Task> {
    const task: Task = { id: randomUUID(), startedAtMs: Date.now(), attempt: 1, pk: this.nextPk++ }
    const { id, pk, startedAtMs: now } = task
    const row = [pk, id, String(NO_INPUT), randomUUID(), now, 'running', null, OWNER, 1, progress(1, now)]
    await this.commit('insert', row)
    return task
  }

  private commit(kind: Kind, row: Row): Promise<void> {
    return new Promise((resolve, reject) => {
      this.asked.push({ kind, row, resolve, reject })
      if (this.isFlushing) return
      this.isFlushing = true
      setImmediate(() => void this.flush())
    })
  }

  /** Groups of one kind: lanes that began together stay together. */
  private async flush(): Promise<void> {
    while (this.asked.length > 0) {
      const { asked } = this
      this.asked = []
      for (const kind of new Set(asked.map((one) => one.kind))) {
        const group = asked.filter((one) => one.kind === kind)
        try {
          const rows = group.map(({ row }) => row)
          await this.send(kind, rows)
          for (const one of group) one.resolve()
        } catch (error) {
          for (const one of group) one.reject(error)
        }
      }
      // Whoever was answered asks for more in this turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.isFlushing = false
  }

  private async send(kind: Kind, rows: readonly Row[], client = this.client): Promise<void> {
    const { text, columns } = STATEMENTS[kind]
    await client.query({ name: kind, text, values: columnsOf(rows, columns) })
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  const isThere = `SELECT to_regclass('${SCHEMA}.tasks') IS NOT NULL AS there`
  const { rows } = await client.query<{ there: boolean }>(isThere)
  if (!rows[0]?.there) await client.query(TABLES)
  await client.query(SETTINGS)
  return client
}

function columnsOf(rows: readonly Row[], columns: readonly Column[]): unknown[][] {
  return columns.map((_, i) => rows.map((row) => row[i]))
}

function succeeded(pk: string | number, attempt: number, startedAtMs: number): Row {
  return [pk, progress(attempt, null), String(NO_INPUT), Date.now(), attempt, startedAtMs, OWNER]
}

const FAILURE = JSON.stringify({ name: 'Error', message: 'refused' })

function failure({ pk, attempt, startedAtMs }: Task, now: number): Row {
  return [pk, attempt, startedAtMs, now, FAILURE, 'Error: refused', OWNER]
}
