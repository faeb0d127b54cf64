/**
 * What every ledger answers about many tasks, as cases of its contract. Imports the ledger's types, checks and samples.
 */
import type { AnalyticsFilter } from '../ledger/analytics.js'
import type { Ledger } from '../ledger/ledger.js'
import type { LedgerEvent } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { type SampleHistory, sampleAttempt, writeHistory } from './sample-history.js'

const LUCK = 'Error: no luck'
const SPACE = 'Error: no space'
const full = { failure: { name: 'Error', message: 'no space' }, signature: SPACE } as const

/** Two runs, a reset, an interruption that was counted and two that were not, and a task under way. */
const STORY: readonly SampleHistory[] = [
  {
    task: { id: 'a', status: 'succeeded', dueAtMs: null },
    attempts: [
      { attempt: 1, endedAtMs: 10 },
      { attempt: 2, endedAtMs: 20, delayBeforeMs: 5, ...full },
      { attempt: 3, endedAtMs: 30, delayBeforeMs: 10, outcome: 'success' },
    ],
  },
  {
    task: { id: 'b', status: 'failed', dueAtMs: null, generation: 2, queue: 'slow' },
    attempts: [
      { generation: 1, attempt: 1, endedAtMs: 15 },
      { generation: 1, attempt: 2, endedAtMs: 25, delayBeforeMs: 2.5, outcome: 'timeout' },
      { generation: 2, attempt: 1, endedAtMs: 35, ...full },
    ],
    events: [{ type: 'reset', atMs: 30, detail: { generation: 2 } }],
  },
  {
    task: { id: 'c', status: 'succeeded', dueAtMs: null },
    attempts: [
      { attempt: 1, execution: 1, endedAtMs: 11, outcome: 'interrupted' },
      { attempt: 1, execution: 2, endedAtMs: 12, outcome: 'interrupted' },
      {
        attempt: 1,
        execution: 3,
        endedAtMs: 13,
        outcome: 'interrupted',
        failure: { name: 'E', message: 'x' },
        signature: 'E: x',
      },
      { attempt: 2, execution: 1, endedAtMs: 40, delayBeforeMs: 1, outcome: 'success' },
    ],
    events: [{ atMs: 11 }, { atMs: 12 }, { type: 'interrupted', atMs: 12 }, { atMs: 13 }],
  },
  {
    task: { scopeKind: 'task', scope: 'print', id: 'a', queue: 'print', correlationId: 'c-print' },
    attempts: [{ attempt: 1, endedAtMs: 12, failure: { name: 'Error', message: 'no luck at all' } }],
  },
  { task: { scopeKind: 'task', scope: 'print', id: 'new', queue: 'print' } },
]

const told = (ledger: Ledger): Promise<void> => writeHistory(ledger, STORY)

export const ANALYTICS_CASES: Readonly<Record<string, Check>> = {
  'has no figures without tasks': async ({ analytics }) => {
    same(await analytics.totals(), { tasks: 0, byStatus: {}, attempts: 0, compactedAttempts: 0 })
    same(await analytics.failurePatterns(), [])
    same(await analytics.recovery(), [])
    same(await analytics.delays(), [])
    const resumes = await analytics.resumes()
    same(
      Object.values(resumes),
      Object.values(resumes).map(() => 0),
    )
    same(await analytics.history({ scopeKind: 'task', scope: 'mail', id: 'a' }), undefined)
  },

  'counts tasks by what became of them, and attempts by when they ended': async (ledger) => {
    await told(ledger)
    const { analytics } = ledger
    const byStatus = { succeeded: 2, failed: 1, waiting: 2 }
    same(await analytics.totals(), { tasks: 5, byStatus, attempts: 11, compactedAttempts: 0 })
    same((await analytics.totals({ sinceMs: 12, untilMs: 20 })).attempts, 4)
    same((await analytics.totals({ scopeKind: 'task', scope: 'print' })).byStatus, { waiting: 2 })
    same((await analytics.totals({ queue: 'slow' })).attempts, 3)
    same((await analytics.totals({ scopeKind: 'task', scope: 'print', queue: 'slow' })).tasks, 0)
  },

  'finds patterns of failures, and what became of their tasks': async (ledger) => {
    await told(ledger)
    const patterns = await ledger.analytics.failurePatterns({ examples: 0 })
    same(patterns, [
      { signature: LUCK, count: 4, firstAtMs: 10, lastAtMs: 25, tasks: 3, recovered: 1, failed: 1, examples: [] },
      { signature: SPACE, count: 2, firstAtMs: 20, lastAtMs: 35, tasks: 2, recovered: 1, failed: 1, examples: [] },
      { signature: 'E: x', count: 1, firstAtMs: 13, lastAtMs: 13, tasks: 1, recovered: 1, failed: 0, examples: [] },
    ])
    const counts = async (filter: Parameters<typeof ledger.analytics.failurePatterns>[0]): Promise<unknown[]> =>
      (await ledger.analytics.failurePatterns(filter)).map(({ signature, count }) => [signature, count])
    same(await counts({ queue: 'slow' }), [
      [LUCK, 2],
      [SPACE, 1],
    ])
    same(await counts({ sinceMs: 12, untilMs: 20 }), [
      [LUCK, 2],
      ['E: x', 1],
    ])
    same(await counts({ limit: 1 }), [[LUCK, 4]])
    same(await counts({ limit: -1 }), [])
  },

  'shows the latest failures of a pattern, and no more than asked for': async (ledger) => {
    await told(ledger)
    const [luck] = await ledger.analytics.failurePatterns({ examples: 2 })
    const first = { generation: 1, attempt: 1, execution: 1 }
    same(luck?.examples, [
      {
        ...first,
        scopeKind: 'task',
        scope: 'mail',
        id: 'b',
        attempt: 2,
        atMs: 25,
        message: 'no luck',
        correlationId: 'c-b',
      },
      { ...first, scopeKind: 'task', scope: 'mail', id: 'b', atMs: 15, message: 'no luck', correlationId: 'c-b' },
    ])
    const [print] = await ledger.analytics.failurePatterns({ scopeKind: 'task', scope: 'print' })
    same(
      print?.examples.map(({ message, correlationId }) => [message, correlationId]),
      [['no luck at all', 'c-print']],
    )
  },

  'orders patterns that are as frequent by code point': async (ledger) => {
    const signatures = ['Z', 'a', 'é', '\uFF01', '\u{1F600}']
    const attempts = signatures.toReversed().map((signature, index) => ({ attempt: index + 1, signature }))
    await writeHistory(ledger, [{ task: { id: 'a' }, attempts }])
    same(
      (await ledger.analytics.failurePatterns()).map(({ signature }) => signature),
      signatures,
    )
  },

  'says how many attempts of each number succeeded': async (ledger) => {
    await told(ledger)
    const { analytics } = ledger
    same(await analytics.recovery(), [
      { attempt: 1, reached: 5, succeeded: 0, rate: 0 },
      { attempt: 2, reached: 3, succeeded: 1, rate: 1 / 3 },
      { attempt: 3, reached: 1, succeeded: 1, rate: 1 },
    ])
    same(
      (await analytics.recovery({ generations: 'last' })).map(({ attempt, reached }) => [attempt, reached]),
      [
        [1, 4],
        [2, 2],
        [3, 1],
      ],
    )
    same(await analytics.recovery({ queue: 'slow', generations: 'last' }), [
      { attempt: 1, reached: 1, succeeded: 0, rate: 0 },
    ])
  },

  'adds up what was waited, once per attempt': async (ledger) => {
    await told(ledger)
    const again = [1, 2, 3].map((execution) => ({ attempt: 2, execution, endedAtMs: 50, delayBeforeMs: 4 }))
    const key = { scopeKind: 'task', scope: 'print', id: 'new' } as const
    await ledger.transact({ tasks: [key] }, () => ({
      attempts: again.map((row) => sampleAttempt(key, row)),
      result: 0,
    }))
    same(await ledger.analytics.delays(), [
      { scopeKind: 'task', scope: 'mail', attempts: 8, waits: 4, totalMs: 18.5, meanMs: 4.625, maxMs: 10 },
      { scopeKind: 'task', scope: 'print', attempts: 2, waits: 1, totalMs: 4, meanMs: 4, maxMs: 4 },
    ])
    same(await ledger.analytics.delays({ scopeKind: 'task', scope: 'print', untilMs: 50 }), [
      { scopeKind: 'task', scope: 'print', attempts: 1, waits: 0, totalMs: 0, meanMs: 0, maxMs: 0 },
    ])
  },

  'says what was interrupted, resumed and made again': async (ledger) => {
    await told(ledger)
    const { analytics } = ledger
    same(await analytics.resumes(), {
      interruptedTasks: 1,
      interruptions: 3,
      counted: 1,
      reExecutions: 2,
      resumedTasks: 1,
      resumes: 3,
      recovered: 1,
      resumedRuns: 0,
      runResumes: 0,
    })
    same((await analytics.resumes({ sinceMs: 12 })).resumes, 2)
    same((await analytics.resumes({ queue: 'slow' })).interruptions, 0)
    same((await analytics.resumes({ scopeKind: 'task', scope: 'print' })).resumes, 0)
  },

  'counts runs that were taken up again, also where only waits were left': async (ledger) => {
    const resumed = (run: string, atMs: number): LedgerEvent => {
      const of = { scopeKind: 'run', scope: run, id: '' } as const
      return { type: 'run_resumed', ...of, atMs, correlationId: run, detail: {} }
    }
    const events = [resumed('nightly', 1), resumed('nightly', 2), resumed('weekly', 3)]
    await ledger.transact({ tasks: [] }, () => ({ events, result: 0 }))
    const counted = async (filter: AnalyticsFilter): Promise<number[]> => {
      const { resumedRuns, runResumes } = await ledger.analytics.resumes(filter)
      return [resumedRuns, runResumes]
    }
    same(await counted({}), [2, 3])
    same(await counted({ scopeKind: 'run', scope: 'nightly' }), [1, 2])
    same(await counted({ sinceMs: 2, untilMs: 3 }), [1, 1])
    same(await counted({ queue: 'slow' }), [0, 0])
  },

  'tells the history of a task, with its events': async (ledger) => {
    await told(ledger)
    const history = await ledger.analytics.history({ scopeKind: 'task', scope: 'mail', id: 'c' })
    same(history?.correlationId, 'c-c')
    same(history?.attempts, await ledger.attempts({ scopeKind: 'task', scope: 'mail', id: 'c' }))
    same(
      history?.events.map(({ type, atMs }) => [type, atMs]),
      [
        ['resumed', 11],
        ['resumed', 12],
        ['interrupted', 12],
        ['resumed', 13],
      ],
    )
    same(history?.compacted, null)
  },
}
