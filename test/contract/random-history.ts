/** Random histories of tasks, and what must be true of a ledger after it has forgotten. Imports the ledger's types. */
import fc from 'fast-check'
import type { AnalyticsFilter } from '../../packages/reprise/src/ledger/analytics.js'
import type { ForgetRequest, Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { SCOPE_KINDS, TASK_STATUSES, type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { signatureOf } from '../../packages/reprise/src/ledger/signature.js'
import type { SampleHistory } from '../../packages/reprise/src/testing/sample-history.js'

const time = fc.integer({ min: 0, max: 40 })
/** Sums of these are exact, in whatever order they are added. */
const delay = fc.integer({ min: 0, max: 64 }).map((quarters) => quarters / 4)
const message = fc.constantFrom('no luck', 'row 1', 'row 22', 'open /a/b', '"x" is bad', '\u{1F600}', '\uFF01 \u0000')

const ending = fc.record({
  outcome: fc.constantFrom('success', 'failure', 'timeout', 'aborted', 'interrupted', 'denied'),
  endedAtMs: time,
  delayBeforeMs: delay,
  message,
  /** Whether an interruption was counted as a failure. */
  counted: fc.boolean(),
  /** How the number follows from the one before. */
  step: fc.constantFrom('again', 'next', 'reset'),
})

const attempts = fc.array(ending, { maxLength: 25 }).map((endings) => {
  let at = { generation: 1, attempt: 1, execution: 0 }
  return endings.map(({ outcome, endedAtMs, delayBeforeMs, message: text, counted, step }) => {
    const { generation, attempt, execution } = at
    if (step === 'reset') at = { generation: generation + 1, attempt: 1, execution: 1 }
    else if (step === 'next') at = { generation, attempt: attempt + 1, execution: 1 }
    else at = { generation, attempt, execution: execution + 1 }
    const fails = outcome === 'failure' || outcome === 'timeout' || (outcome === 'interrupted' && counted)
    const failure = fails ? { name: 'Error', message: text } : null
    return { ...at, outcome, endedAtMs, delayBeforeMs, failure, signature: failure && signatureOf(failure) }
  })
})

const history = fc.record({
  scopeKind: fc.constantFrom(...SCOPE_KINDS),
  scope: fc.constantFrom('mail', 'print'),
  queue: fc.constantFrom('fast', 'slow'),
  status: fc.constantFrom(...TASK_STATUSES),
  updatedAtMs: time,
  policyHash: fc.constantFrom('p1', 'p2', 'p3'),
  owner: fc.constantFrom('o1', 'o2', null),
  attempts,
  events: fc.array(fc.record({ type: fc.constantFrom('resumed', 'interrupted', 'reset'), atMs: time }), {
    maxLength: 8,
  }),
  letters: fc.integer({ min: 0, max: 9 }),
})

export const histories: fc.Arbitrary<readonly SampleHistory[]> = fc.array(history, { maxLength: 12 }).map((all) =>
  all.map(({ attempts: rows, events, letters, ...task }, index) => ({
    task: { ...task, id: `t${index}`, generation: rows.at(-1)?.generation ?? 1 },
    attempts: rows,
    events,
    dead: Array.from({ length: letters }, (_, place) => ({ generation: place + 1, atMs: index })),
  })),
)

export const filters: fc.Arbitrary<AnalyticsFilter> = fc.record(
  {
    scopeKind: fc.constantFrom(...SCOPE_KINDS),
    scope: fc.constantFrom('mail', 'print', 'nobody'),
    queue: fc.constantFrom('fast', 'slow'),
    sinceMs: time,
    untilMs: time,
  },
  { requiredKeys: [] },
)

/** All that a ledger holds of tasks. */
export interface Holding {
  readonly tasks: readonly TaskRecord[]
  /** By `run/id`: how many rows there are. */
  readonly rows: Readonly<Record<string, number>>
}

export async function holdingOf(ledger: Ledger): Promise<Holding> {
  const tasks = await ledger.list({})
  const rows: Record<string, number> = {}
  const count = (scope: string, id: string, by = 1): void => {
    if (by > 0) rows[`${scope}/${id}`] = (rows[`${scope}/${id}`] ?? 0) + by
  }
  for (const task of tasks) count(task.scope, task.id, (await ledger.attempts(task)).length)
  for (const { scope, id } of await ledger.deadLetters()) count(scope, id)
  for (const { scope, id } of await ledger.events(0, 1e6)) count(scope, id)
  return { tasks, rows }
}

/** What is wrong with what is left. */
export function faultsOfForgetting(before: Holding, after: Holding, request: ForgetRequest): string[] {
  const left = new Map(after.tasks.map((task) => [`${task.scope}/${task.id}`, task]))
  const faults = before.tasks.flatMap((task) => {
    const name = `${task.scope}/${task.id}`
    const isOld = task.status === request.status && task.updatedAtMs < request.beforeMs
    const kept = left.get(name)
    if (kept === undefined) {
      const lost = TERMINAL.has(task.status) && isOld ? [] : [`${name} is gone, and was ${task.status}`]
      return after.rows[name] === undefined ? lost : [...lost, `${name} is gone, and left rows behind`]
    }
    const same = JSON.stringify(kept) === JSON.stringify(task) && after.rows[name] === before.rows[name]
    return same ? [] : [`${name} is there, and something of it is not`]
  })
  const old = before.tasks.filter(
    ({ status, updatedAtMs }) => status === request.status && updatedAtMs < request.beforeMs,
  )
  const gone = before.tasks.length - after.tasks.length
  if (gone !== Math.min(old.length, request.limit)) faults.push(`${gone} are gone of ${old.length} that are old`)
  return faults
}
