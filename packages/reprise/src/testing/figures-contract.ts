/**
 * What every ledger sums up over the tasks of a run and over dead letters, as cases of its contract. Imports the ledger's
 * types, checks and samples.
 */
import { initialState, snapshot } from '../core/state.js'
import type { Ledger } from '../ledger/ledger.js'
import type { DeadLetter, TaskRecord } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { type SampleHistory, writeHistory } from './sample-history.js'

const RUN = { scopeKind: 'run', scope: 'night-1' } as const

function progressOf(failures: number, launched: number, isInFlight = false): TaskRecord['progress'] {
  const retry = { ...snapshot(initialState(null), 7), failures, launched }
  const current = isInFlight ? { attempt: launched, startedAtMs: 1, execution: 1 } : null
  // A message that looks like a field of the state.
  const lastFailure = failures === 0 ? null : { name: 'Error', message: '"failures":0,"launched":0,"current":{' }
  return { retry, current, interruptions: 0, lastFailure }
}

const step = (id: string, status: TaskRecord['status'], progress: TaskRecord['progress']): SampleHistory => ({
  task: { ...RUN, id, status, dueAtMs: null, progress },
})

const TASKS: readonly SampleHistory[] = [
  step('a', 'succeeded', progressOf(0, 1)),
  step('b', 'succeeded', progressOf(0, 1)),
  step('c', 'succeeded', progressOf(10, 11)),
  step('d', 'succeeded', progressOf(0, 0)),
  step('e', 'failed', progressOf(2, 2)),
  step('e.back_up', 'succeeded', progressOf(0, 1)),
  step('e-backxup', 'cancelled', progressOf(0, 0)),
  step('f', 'waiting', progressOf(1, 1)),
  step('g', 'waiting', progressOf(0, 1, true)),
  { task: { ...RUN, scope: 'night-10', id: 'z', status: 'failed', dueAtMs: null } },
  { task: { id: 'program', status: 'failed', dueAtMs: null } },
]

/** Two attempts with a wait of 50 between them, one of another step within the wait, and a start again without a wait. */
const ATTEMPTS: readonly SampleHistory[] = [
  {
    task: { ...RUN, id: 'a' },
    attempts: [
      { attempt: 1, startedAtMs: 0, endedAtMs: 10 },
      { attempt: 2, startedAtMs: 60, endedAtMs: 70 },
      { attempt: 3, execution: 1, startedAtMs: 100, endedAtMs: 900, outcome: 'interrupted' },
      { attempt: 3, execution: 2, startedAtMs: 500, endedAtMs: 510, outcome: 'success' },
    ],
  },
  { task: { ...RUN, id: 'b' }, attempts: [{ attempt: 1, startedAtMs: 20, endedAtMs: 45, outcome: 'success' }] },
  {
    task: { ...RUN, id: 'c', generation: 2 },
    attempts: [
      { generation: 1, attempt: 1, startedAtMs: 520, endedAtMs: 530 },
      { generation: 2, attempt: 2, startedAtMs: 560.5, endedAtMs: 570 },
    ],
  },
  {
    task: { ...RUN, scope: 'night-2', id: 'a' },
    attempts: [{ attempt: 1, startedAtMs: 0, endedAtMs: 9000, outcome: 'success' }],
  },
]

const MAP = { scopeKind: 'run', scope: 'night-1/map' } as const
const dead = (atMs: number, more: Partial<DeadLetter> = {}): Partial<DeadLetter> => ({
  atMs,
  failure: { name: 'Error', message: 'no luck, "retryable":false' },
  ...more,
})
const final = {
  failure: { name: 'Error', message: 'bad data', retryable: false },
  stopReason: 'not_retryable',
} as const
const CLOSED = { ...RUN, id: 'a', generation: 1, atMs: 77, by: 'reset' } as const

const LETTERS: readonly SampleHistory[] = [
  { task: { ...RUN, id: 'a' }, dead: [dead(5), dead(15.5, { generation: 2 })] },
  { task: { ...MAP, id: '1.x' }, dead: [dead(6, { ...final, signature: 'Error: bad' })] },
  { task: { ...MAP, id: '2.y' }, dead: [dead(7)] },
  { task: { ...MAP, scope: 'night-1/map/on-error', id: '1.x' }, dead: [dead(8)] },
  { task: { id: 'p' }, dead: [dead(4, { stopReason: 'interrupted', failure: null })] },
]

const PERIODS = [
  { fromMs: 0, toMs: 200 },
  { fromMs: 400, toMs: 1000 },
]

async function withLetters(ledger: Ledger): Promise<Ledger['analytics']> {
  await writeHistory(ledger, LETTERS)
  await ledger.transact({ tasks: [CLOSED] }, () => ({ closedLetters: [CLOSED], result: undefined }))
  return ledger.analytics
}

async function written(ledger: Ledger, histories: readonly SampleHistory[]): Promise<Ledger['analytics']> {
  await writeHistory(ledger, histories)
  return ledger.analytics
}

export const FIGURES_CASES: Readonly<Record<string, Check>> = {
  'has no sums without tasks and letters': async ({ analytics }) => {
    same(await analytics.tasksOfRun('night-1'), [])
    same(await analytics.lastSigns('night-1', [0, 10]), [null, null])
    same(await analytics.lastSigns('night-1', []), [])
    same(await analytics.waitedMs('night-1', { periods: PERIODS, waits: [], runs: [] }), 0)
    same(await analytics.waitedMs('night-1', { periods: [], waits: PERIODS, runs: [] }), 0)
    same(await analytics.letterTotals(), { kinds: 0, counts: [] })
    same(await analytics.letterPatterns(), [])
  },

  'counts the tasks of one run by how they stand, whatever their messages look like': async (ledger) => {
    const analytics = await written(ledger, TASKS)
    const counts = await analytics.tasksOfRun('night-1', '.back_up')
    same(
      counts.map(({ status, hasFailed, hasBegun, isInFlight, tasks }) => [
        status,
        hasFailed,
        hasBegun,
        isInFlight,
        tasks,
      ]),
      [
        ['cancelled', false, false, false, 1],
        ['failed', true, true, false, 1],
        ['succeeded', false, false, false, 1],
        ['succeeded', false, true, false, 2],
        ['succeeded', true, true, false, 1],
        ['waiting', false, true, true, 1],
        ['waiting', true, true, false, 1],
      ],
    )
    const all = await analytics.tasksOfRun('night-1')
    same(
      all.reduce((sum, { tasks }) => sum + tasks, 0),
      9,
    )
  },

  'lists tasks that have failed before, and tasks that have not': async (ledger) => {
    await writeHistory(ledger, TASKS)
    const idsOf = async (hasFailed: boolean): Promise<string[]> => {
      const found = await ledger.list({ ...RUN, statuses: ['succeeded', 'failed'], hasFailed })
      return found.map(({ id }) => id)
    }
    same(await idsOf(true), ['c', 'e'])
    same(await idsOf(false), ['a', 'b', 'd', 'e.back_up'])
    same((await ledger.list({ ...RUN, hasFailed: true, limit: 2 })).length, 2)
  },

  'knows the last sign of life of each period of a run': async (ledger) => {
    const analytics = await written(ledger, ATTEMPTS)
    same(await analytics.lastSigns('night-1', [0]), [900])
    // An attempt that ends after its period is a sign of its start alone.
    same(await analytics.lastSigns('night-1', [0, 400, 515, 5000]), [100, 510, 570, null])
    same(await analytics.lastSigns('night-1', [60]), [900])
  },

  'adds up what a run waited while nothing of it ran': async (ledger) => {
    const analytics = await written(ledger, ATTEMPTS)
    const none = { waits: [], runs: [] }
    // From 10 to 20, from 45 to 60, and from 70 to 100: neither a reset nor another start was waited for.
    same(await analytics.waitedMs('night-1', { periods: [{ fromMs: 0, toMs: 5000 }], ...none }), 55)
    same(await analytics.waitedMs('night-1', { periods: [{ fromMs: 15, toMs: 80 }], ...none }), 30)
    same(
      await analytics.waitedMs('night-1', {
        periods: [
          { fromMs: 0, toMs: 12.5 },
          { fromMs: 50, toMs: 75 },
        ],
        ...none,
      }),
      17.5,
    )
    const open = { waits: [{ fromMs: 900, toMs: Infinity }], runs: [{ fromMs: 950, toMs: 960 }] }
    same(await analytics.waitedMs('night-1', { periods: PERIODS, ...open }), 55 + 90)
    same(await analytics.waitedMs('night-2', { periods: PERIODS, waits: [{ fromMs: 8990, toMs: 9010 }], runs: [] }), 0)
    same(await analytics.waitedMs('night-2', { periods: [{ fromMs: 0, toMs: 9005 }], waits: open.waits, runs: [] }), 5)
  },

  'gives the tasks of a run with their attempts in the order of creation, page by page': async (ledger) => {
    const created = [30, 10, 20, 20].map((createdAtMs, index) => {
      const { task, attempts = [] } = ATTEMPTS[index] as SampleHistory
      return { task: { ...task, createdAtMs, input: { large: true } }, attempts }
    })
    const analytics = await written(ledger, [...created, { task: { ...RUN, id: 'bb', createdAtMs: 20 } }])
    const whole = await analytics.runHistory('night-1', { limit: 100 })
    same(
      whole.map(({ task, attempts }) => [task.id, task.input, attempts.length]),
      [
        ['b', null, 1],
        ['bb', null, 0],
        ['c', null, 2],
        ['a', null, 4],
      ],
    )
    same(whole[3]?.attempts, await ledger.attempts({ ...RUN, id: 'a' }))
    const pages: unknown[] = []
    for (let after = undefined as (typeof whole)[number]['task'] | undefined; ; ) {
      const page = await analytics.runHistory('night-1', { limit: 1, ...(after && { after }) })
      if (page.length === 0) break
      pages.push(...page)
      after = page.at(-1)?.task
    }
    same(pages, whole)
  },

  'counts dead letters by what they have in common': async (ledger) => {
    const analytics = await withLetters(ledger)
    const { kinds, counts } = await analytics.letterTotals()
    same(kinds, 2)
    same(
      counts.map((one) => Object.values(one)),
      [
        ['run', 1, 'attempts_exhausted', false, null, 1, 15.5, 15.5],
        ['run', 1, 'attempts_exhausted', false, 'reset', 1, 5, 5],
        ['run', 2, 'attempts_exhausted', false, null, 1, 7, 7],
        ['run', 2, 'not_retryable', true, null, 1, 6, 6],
        ['run', 3, 'attempts_exhausted', false, null, 1, 8, 8],
        ['task', 1, 'interrupted', false, null, 1, 4, 4],
      ],
    )
    const lettersOf = async (filter: Parameters<typeof analytics.letterTotals>[0]): Promise<number> =>
      (await analytics.letterTotals(filter)).counts.reduce((sum, { letters }) => sum + letters, 0)
    same(await lettersOf({ isOpen: false }), 1)
    same([await lettersOf({ untilMs: 77 }), await lettersOf({ untilMs: 78 })], [0, 1])
    same(await lettersOf({ scopes: [RUN, MAP] }), 4)
    same(await lettersOf({ scopes: [] }), 0)
    same(await lettersOf({ scopes: [{ scopeKind: 'task', scope: 'night-1' }] }), 0)
    same(await lettersOf({ signature: 'Error: bad' }), 1)
  },

  'groups dead letters by cause, with their scopes and the last of them': async (ledger) => {
    const analytics = await withLetters(ledger)
    const [luck, bad, ...others] = await analytics.letterPatterns({ isOpen: true })
    same(others, [])
    const { reasons, scopes, last, ...figures } = luck ?? {}
    same(figures, { signature: 'Error: no luck', letters: 4, firstAtMs: 4 })
    same(reasons, [
      { stopReason: 'attempts_exhausted', isFinal: false, letters: 3 },
      { stopReason: 'interrupted', isFinal: false, letters: 1 },
    ])
    same(
      scopes?.map(({ scope }) => scope),
      ['mail', 'night-1/map', 'night-1/map/on-error', 'night-1'],
    )
    same(last, (await ledger.deadLetters({ ...RUN, isOpen: true }))[0])
    same(bad?.reasons, [{ stopReason: 'not_retryable', isFinal: true, letters: 1 }])
    same(
      (await analytics.letterPatterns({ scopes: [RUN] })).map(({ letters }) => letters),
      [2],
    )
  },

  'lists the dead letters of one task': async (ledger) => {
    await writeHistory(ledger, LETTERS)
    const found = await ledger.deadLetters({ ...RUN, id: 'a' })
    same(
      found.map(({ generation }) => generation),
      [1, 2],
    )
    same((await ledger.deadLetters({ id: '1.x' })).length, 2)
  },
}
