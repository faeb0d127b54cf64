/** The n-th operation of the ledger fails, for every n, before or after it was done, for good or once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type FaultPlan, faultyLedger } from 'reprise/testing'
import { RecordedFailureError, TaskRefusedError } from '../../packages/reprise/src/durable/errors.js'
import { LedgerError } from '../../packages/reprise/src/ledger/errors.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { AttemptRow } from '../../packages/reprise/src/ledger/records.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { faultsOf, scopeOfTasks, type Start } from '../crash/history.js'
import { watched } from '../durable/watched-ledger.js'
import { deferred, rejection, turns, ProcessModel } from '../durable/process-model.js'
import { type Life, Program, RETRIES, RUNS } from './scenario.js'
import { clockReading } from '../clock-reading.js'
import type { Clock } from 'reprise'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-sweep-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0

type Open = () => Promise<(clock: Clock) => Ledger>

const OPENERS: Readonly<Record<string, Open>> = {
  memory: async () => (clock) => new MemoryLedger({ clock }),
  SQLite: async () => {
    let time: Clock | undefined
    const file = path.join(directory, `${files++}.db`)
    const ledger = await openSqlite(file, { clock: clockReading(() => time?.wallMs() ?? 0), synchronous: 'normal' })
    return (clock) => {
      time = clock
      return ledger
    }
  },
}

/** All that is wrong after a program met the fault of the plan and was started again; and how many operations it made. */
async function meet(open: Open, plan: FaultPlan): Promise<{ faults: string[]; operations: number; reached: boolean }> {
  const faults: string[] = []
  const made = await open()
  let store: Ledger | undefined
  const program = new Program((clock) => watched(keptOpen((store = made(clock))), faults))
  const faulty = faultyLedger(program.ledger, plan)
  const first = await program.live(faulty)
  const reached = faulty.faults.length > 0
  faults.push(...faultsOfFirst(first, reached))
  await turns(5)
  await program.expireAll()
  const second = await program.live(program.ledger)
  faults.push(...faultsOfSecond(second))
  for (const [run, attempts] of Object.entries(RUNS)) {
    const starts = program.starts.filter((start) => start.run === run)
    const begun = [...starts, ...(await cancelledBefore(program.ledger, run, starts))]
    faults.push(...(await faultsOf(program.ledger, scopeOfTasks(run), begun, { attempts, finished: true })))
  }
  faults.push(...(await budgetFaults(program.ledger)))
  await store?.close()
  return { faults, operations: faulty.operations.length, reached }
}

/** Attempts whose intent was recorded, and which were cancelled before anybody began with them: no fault. */
async function cancelledBefore(ledger: Ledger, run: string, starts: readonly Start[]): Promise<Start[]> {
  const rows = (
    await Promise.all((await ledger.list({ scopeKind: 'task', scope: run })).map((task) => ledger.attempts(task)))
  ).flat()
  const isOf = (row: AttemptRow) => (start: Start) =>
    start.task === row.id && start.generation === row.generation && start.attempt === row.attempt
  return rows
    .filter((row) => row.outcome === 'aborted' && !starts.some(isOf(row)))
    .map(({ id, attempt, execution, generation }) => ({ task: id, attempt, execution, generation }))
}

/** A program closes its ledger; the next one gets the same. */
function keptOpen(ledger: Ledger): Ledger {
  return new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'close') return async () => undefined
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** Fail-stop: nobody waits for ever, somebody is told, and what he is told names the ledger. */
function faultsOfFirst({ outcomes, hung }: Life, reached: boolean): string[] {
  const faults = hung.map((name) => `${name} hangs`)
  const errors = Object.entries(outcomes).filter(([, outcome]) => outcome instanceof Error) as [string, Error][]
  const strange = errors.filter(([, error]) => !isExpected(error) && !isOfLedger(error))
  faults.push(...strange.map(([name, error]) => `${name} says ${error.name}: ${error.message}`))
  if (reached && !errors.some(([, error]) => isOfLedger(error))) faults.push('the fault is told to nobody')
  return faults
}

function faultsOfSecond({ outcomes, hung }: Life): string[] {
  const faults = hung.map((name) => `${name} hangs in the second life`)
  for (const [name, outcome] of Object.entries(outcomes))
    if (outcome instanceof Error && !isExpected(outcome))
      faults.push(`${name} says ${outcome.message} in the second life`)
  for (const [name, result] of Object.entries(RESULTS))
    if (outcomes[name] !== result) faults.push(`${name} gave ${String(outcomes[name])}`)
  return faults
}

const RESULTS = {
  'run good': 'good done',
  'run second': 'second done',
  'run door': 'door done',
  'run free': 'free done',
  'again good': 'good done',
  'again free': 'free done',
  'again never': 'never done',
}

function isExpected(error: Error): boolean {
  return error instanceof RecordedFailureError || (error instanceof TaskRefusedError && error.kind !== 'closed')
}

function isOfLedger(error: Error): boolean {
  return error instanceof LedgerError && /^The ledger \S+ failed by plan/.test(error.message)
}

/** I4: every recorded retry was charged, once. */
async function budgetFaults(ledger: Ledger): Promise<string[]> {
  const gate = (await ledger.gates()).find(({ key }) => key === 'budget:retries')
  const { used } = (gate?.state ?? { used: 0 }) as { used: number }
  const retries = new Set<string>()
  for (const task of await ledger.list({ scopeKind: 'task', scope: 'work' }))
    for (const { attempt, generation } of await ledger.attempts(task))
      if (attempt > 1) retries.add(`${task.id} ${generation} ${attempt}`)
  const faults = used > RETRIES ? [`${used} retries of ${RETRIES}`] : []
  return used === retries.size ? faults : [...faults, `${retries.size} retries are recorded, and ${used} were charged`]
}

const KINDS: Readonly<Record<string, Omit<FaultPlan, 'failAt'>>> = {
  'fails for good, before it was done': { kind: 'before' },
  'fails for good, after it was done': { kind: 'after' },
  'fails once, before it was done': { kind: 'before', lasting: false },
  'fails once, after it was done': { kind: 'after', lasting: false },
}

describe.each(Object.entries(OPENERS))('on %s', (_name, open) => {
  it('a program without faults does what it should', async () => {
    const { faults, operations } = await meet(open, {})
    expect(faults).toEqual([])
    console.log(`${operations} operations`)
  })

  it.each(Object.entries(KINDS))('each operation in turn %s', { timeout: 120_000 }, async (_kind, plan) => {
    const bad: Record<string, string[]> = {}
    let n = 0
    for (;;) {
      const { faults, reached } = await meet(open, { ...plan, failAt: ++n })
      if (faults.length > 0) bad[`operation ${n}`] = faults
      if (!reached) break
    }
    expect(bad).toEqual({})
    expect(n).toBeGreaterThan(30)
    console.log(`${n - 1} operations failed in turn`)
  })
})

describe('the sweep itself', () => {
  const spoilt =
    (spoil: (ledger: MemoryLedger) => void): Open =>
    async () =>
    (clock) => {
      const ledger = new MemoryLedger({ clock })
      spoil(ledger)
      return ledger
    }

  it('sees a ledger that forgets what it acknowledged', async () => {
    const open = spoilt((ledger) => {
      const transact = ledger.transact.bind(ledger)
      let count = 0
      // The eighth transaction is decided, acknowledged and not kept.
      ledger.transact = (keys, decide) =>
        transact(keys, (view) => (++count === 8 ? { result: decide(view).result } : decide(view)))
    })
    expect((await meet(open, {})).faults).not.toEqual([])
  })

  it('sees a caller who waits for ever', async () => {
    const open = spoilt((ledger) => {
      const create = ledger.create.bind(ledger)
      ledger.create = (tasks) => (tasks[0]?.task.id === 'good' ? new Promise(() => undefined) : create(tasks))
    })
    expect((await meet(open, {})).faults).toContain('run good hangs')
  })
})

describe('a ledger that failed', () => {
  it('is told to whoever closes, if nobody was waiting', async () => {
    const model = new ProcessModel((ledger) =>
      faultyLedger(ledger, { failAt: ({ verb }) => (verb === 'claim' ? 'before' : undefined) }),
    )
    const { durable } = await model.open()
    await durable.task('t', {}, () => 'done').start(null, { id: 'a' })
    await turns()
    expect(await rejection(durable.close())).toBeInstanceOf(LedgerError)
  })

  /** The task is recorded as running here, but the caller was told that creating it failed: nobody would run it. */
  it('once, as a task was created, does not make the next caller wait for ever', async () => {
    const model = new ProcessModel((ledger) =>
      faultyLedger(ledger, {
        failAt: ({ verb, count }) => (verb === 'create' && count === 1 ? 'after' : undefined),
        lasting: false,
      }),
    )
    const { durable } = await model.open()
    const task = durable.task('t', {}, () => 'done')
    await rejection(task.run(null, { id: 'a' }))
    const again = Promise.race([task.run(null, { id: 'a' }), turns(50).then(() => 'hangs')]).catch(() => 'rejects')
    expect(await again).not.toBe('hangs')
  })

  /** Its task is recorded after everybody who waits was told. */
  it('once does not forget who was asking meanwhile', async () => {
    const held = deferred()
    const model = new ProcessModel((ledger) =>
      faultyLedger(ledger, {
        failAt: ({ verb }) => (verb === 'claim' ? 'before' : undefined),
        lasting: false,
        delay: ({ verb, count }) => (verb === 'create' && count === 1 ? held.promise : undefined),
      }),
    )
    const { durable } = await model.open()
    const task = durable.task('t', { breaker: {} }, () => 'done')
    const run = task.run(null, { id: 'a' }).catch(() => 'rejects')
    await turns()
    held.resolve()
    expect(await Promise.race([run, turns(50).then(() => 'hangs')])).toBe('rejects')
  })
})
