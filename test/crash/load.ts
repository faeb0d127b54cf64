/**
 * A process with a mixed load of durable tasks, made to be killed: `load.ts PLAN`, the plan as JSON. Every start of an
 * operation is appended to the journal before anything else, so that what really ran can be compared with what the
 * ledger says. Exits with 0 when all tasks have ended, with 74 when the ledger has failed for good. Imports the durable
 * driver's source.
 */
import { openSync, writeSync } from 'node:fs'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { GateRefusedError, RecordedFailureError, TaskRefusedError } from '../../packages/reprise/src/durable/errors.js'
import { grantBudget, resetBreaker, tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import {
  continueQueue,
  listQueues,
  pauseQueue,
  setQueueMost,
} from '../../packages/reprise/src/durable/queue-control.js'
import { redriveWith } from '../../packages/reprise/src/internal/redrive.js'
import { drawsOf } from '../../packages/reprise/src/core/state.js'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import { type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { LedgerError } from '../../packages/reprise/src/ledger/errors.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { Doom, doomed, doomStatements } from './kill-points.js'
import { openAt } from './store.js'
import { beginningOf, checkingCommits, withoutGates } from './commit-checker.js'
import { makeTally, tallyGroup } from '../durable/tally-group.js'
import {
  failuresOf,
  GROUP,
  type Kind,
  KINDS,
  LEDGER_FAILED,
  loadBudgets,
  type LoadPlan,
  type Noted,
  TALLY,
} from './load-plan.js'

const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan
const { seed, tasksOfKind } = plan
const random = seededRandom(plan.life)
const journal = openSync(plan.journal, 'a')
const note = (line: Noted): void => void writeSync(journal, `${JSON.stringify(line)}\n`)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const parent = process.ppid
/** A ledger that does not answer is asked again, as any program would; one that has failed ends the process. */
async function insist<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      const mayPass = error.problem === 'busy' || error.problem === 'unreachable'
      // Whoever started it is gone, and with him the server.
      if (!mayPass || process.ppid !== parent) end(error)
      await pause(20)
    }
  }
}

function end(error: unknown): never {
  console.error(error)
  process.exit(LEDGER_FAILED)
}

const doom = new Doom(plan.point)
if (plan.address.startsWith('sqlite:')) doomStatements(doom)
const environment = environmentOf({ budgets: loadBudgets() })
const store = await insist(() => openAt(plan.address, environment.clock))
/** What this process began, by task and execution. */
const begun = new Map<string, TaskRecord>()
const honest = doomed(store, doom)
const ledger = checkingCommits(plan.forgetsGates === true ? withoutGates(honest) : honest, begun, (what) =>
  note({ type: 'fault', what }),
)
const settings = { concurrency: 12, leaseMs: plan.leaseMs, policyChange: 'refuse', onFailure: end } as const
const durable = await insist(() => Durable.open(ledger, environment, settings))

type Handle = TaskHandle<number, object>

function define({ name: run, policy, isGrouped, ...options }: Kind): Handle {
  const operation = async (task: number, context: { taskId: string; attempt: number; execution: number }) => {
    const { taskId, attempt, execution } = context
    const { generation = 0, fence = 0 } = begun.get(beginningOf({ scope: run, id: taskId }, context)) ?? {}
    note({
      type: 'start',
      run,
      task: taskId,
      attempt,
      execution,
      generation,
      fence,
      atMs: Date.now(),
      pid: process.pid,
    })
    const ms = drawsOf(task + seed)(attempt) * plan.workMs
    // Some end within the turn they began in.
    if (ms > 1) await pause(ms)
    if (attempt <= failuresOf(seed, task)) throw new Error(`task ${task} fails at attempt ${attempt}`)
    return { task, attempt }
  }
  const counted = isGrouped === true ? { group: tallyGroup(GROUP), tally: TALLY } : {}
  return durable.task<number, object>(run, policy, operation, { ...options, ...counted })
}

await insist(() => makeTally(ledger, GROUP, tasksOfKind))
const handles = new Map(KINDS.map((kind) => [kind.name, define(kind)]))
const all = KINDS.flatMap(({ name: run }, kind) =>
  Array.from({ length: tasksOfKind }, (_, index) => ({ run, id: `t${index}`, input: kind * tasksOfKind + index })),
)
type One = (typeof all)[number]

/** Half are asked for and half are only recorded; an answer that was given is noted. */
async function submit({ run, id, input }: One): Promise<void> {
  const handle = handles.get(run) as Handle
  if (input % 2 === 1) {
    await insist(() => handle.start(input, { id }))
    note({ type: 'created', run, task: id })
    return
  }
  try {
    note({ type: 'result', run, task: id, value: await insist(() => handle.run(input, { id })) })
  } catch (error) {
    if (!(error instanceof RecordedFailureError)) throw error
  }
}

/** What a person may do to a task; that it is too late for it is no fault. */
async function meddle(): Promise<void> {
  const one = all[Math.floor(random() * all.length)]
  const handle = handles.get(one?.run ?? '')
  const act = (['cancel', 'reset', 'retryNow', 'retryNow'] as const)[Math.floor(random() * 4)]
  try {
    if (one !== undefined && act !== undefined) await handle?.[act](one.id)
  } catch (error) {
    if (!(error instanceof TaskRefusedError)) throw error
  }
}

/** What an operator may do to a gate; one that nobody has used yet, or that is full, is no fault. */
async function operate(): Promise<void> {
  const reason = 'the load'
  const acts = [
    () => grantBudget(ledger, 'count', { amount: 1, reason }),
    () => grantBudget(ledger, 'bucket', { amount: 2, reason }),
    () => resetBreaker(ledger, 'guarded', { reason }),
    () => tripBreaker(ledger, 'guarded', { reason, recoveryTimeout: '100ms' }),
    () => tripBreaker(ledger, 'held', { reason, recoveryTimeout: '50ms' }),
    () => grantBudget(ledger, 'allotment', { amount: 1, reason }),
    () => pauseQueue(ledger, 'held', { reason }),
    () => setQueueMost(ledger, 'held', { most: 1 + Math.floor(random() * 2), reason }),
    redrive,
  ]
  try {
    await acts[Math.floor(random() * acts.length)]?.()
  } catch (error) {
    if (!(error instanceof GateRefusedError)) throw error
  }
}

/** The same letters may be redriven by another process at this moment. Charged, as any other generation. */
async function redrive(): Promise<void> {
  const letters = await ledger.deadLetters({ isOpen: true, limit: 3 })
  await redriveWith(durable, letters, { reason: 'the load', charged: true })
}

/** Whoever has paused a queue may be gone. */
async function continuePaused(): Promise<void> {
  for (const { queue, isPaused } of await listQueues(store))
    if (isPaused) await continueQueue(ledger, queue, { reason: 'the load' })
}

async function decideOpen(): Promise<void> {
  for (const { scope, id } of await store.list({ statuses: ['undecided'] })) {
    const answer = random() < 0.5 ? 'done' : 'rerun'
    await handles
      .get(scope)
      ?.decide(id, answer)
      .catch((error: unknown) => {
        if (!(error instanceof TaskRefusedError)) throw error
      })
  }
}

async function untilAllEnded(): Promise<void> {
  for (let round = 0; ; round++) {
    await insist(decideOpen)
    if (!plan.calm && round < 12) await insist(meddle)
    if (!plan.calm && round < 12 && round % 4 === 1) await insist(operate)
    if (plan.calm || round % 4 === 3) await insist(continuePaused)
    const tasks = await insist(() => store.list({}))
    if (tasks.length === all.length && tasks.every(({ status }) => TERMINAL.has(status))) return
    await pause(10)
  }
}

process.stdout.write('ready\n')
await insist(() => durable.resume())
const submitted = Promise.all(all.map(submit))
await Promise.all([submitted, untilAllEnded()])
await untilAllEnded()
await durable.close()
note({ type: 'passed', points: Object.fromEntries(doom.passed) })
