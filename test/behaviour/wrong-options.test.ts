/** Wrong options are one `OptionsError` that lists every problem with its place, whatever function they are given to. */
import {
  adaptiveBudget,
  allOf,
  concurrencyBudget,
  countBudget,
  createExecutor,
  isRepriseError,
  type OptionProblem,
  perKey,
  ratioBudget,
  retry,
  tokenBucket,
  unlimited,
} from 'reprise'
import { grantBudget, MemoryLedger, openDurable, openLedger, resetBreaker, tripBreaker } from 'reprise/durable'
import { createMetrics, logger, otel } from 'reprise/observe'
import { openPostgres } from 'reprise/postgres'
import { simulate, wellKnown } from 'reprise/simulate'
import { openSqlite } from 'reprise/sqlite'
import { virtualClock } from 'reprise/testing'
import { describe, expect, test } from 'vitest'

/** As somebody without a compiler calls them. */
type Loose = (options: never) => unknown

const ledger = new MemoryLedger()
const run = (): string => 'x'
const SUBJECT = { name: 'none', policy: {} }

/** By subject: what is called, and options with the paths that must be named. */
const CASES: readonly (readonly [subject: string, call: Loose, options: unknown, paths: readonly string[]])[] = [
  ['createExecutor', createExecutor, { polices: {}, random: 5, clock: Date.now }, ['polices', 'random', 'clock']],
  ['createExecutor', createExecutor, { budgets: { a: {}, ' ': unlimited() } }, ['budgets.a', 'budgets. ']],
  ['retry', (options: never) => retry(run, {}, options), { observers: 5, signl: 1 }, ['observers', 'signl']],
  [
    'retry',
    (options: never) => retry(run, {}, options),
    { policies: {}, strictKeys: true },
    ['policies', 'strictKeys'],
  ],
  ['the call', (options: never) => retry(run, {}, options), { signal: new AbortController() }, ['signal']],
  ['the call', (options: never) => createExecutor().run('k', run, options), { signal: null }, ['signal']],
  ['tokenBucket', tokenBucket, { capacity: 0, refil: 1 }, ['refillPerSecond', 'capacity', 'refil']],
  ['ratioBudget', ratioBudget, { ratio: -1, window: 'x' }, ['ratio', 'window']],
  ['adaptiveBudget', adaptiveBudget, { maxPark: 'x', strict: 1 }, ['maxPark', 'strict']],
  ['countBudget', countBudget, { perKey: 1.5 }, ['total', 'perKey']],
  ['concurrencyBudget', concurrencyBudget, { max: 0, min: 0 }, ['max', 'min']],
  ['perKey', (options: never) => perKey(7 as never, options), { maxKeys: 0 }, ['make', 'maxKeys']],
  ['allOf', (members: never) => allOf(...(members as never[])), [unlimited(), 7, null], ['[1]', '[2]']],
  ['openDurable', (options: never) => openDurable('memory:', options), { leas: 1, clock: 1 }, ['leas', 'clock']],
  ['openLedger', (options: never) => openLedger('memory:', options), { creat: 1, readOnly: 1 }, ['creat', 'readOnly']],
  [
    'openSqlite',
    (options: never) => openSqlite('x.db', options),
    { clock: Date.now, driver: 'x' },
    ['clock', 'driver'],
  ],
  ['openPostgres', (options: never) => openPostgres('x', options), { clock: Date.now, create: 1 }, ['clock', 'create']],
  ['MemoryLedger', (options: never) => new MemoryLedger(options), { clock: Date.now, wall: 1 }, ['clock', 'wall']],
  ['resetBreaker', (options: never) => resetBreaker(ledger, 'b', options), { resaon: 1 }, ['reason', 'resaon']],
  [
    'tripBreaker',
    (options: never) => tripBreaker(ledger, 'b', options),
    { reason: '', recoveryTimeout: -1 },
    ['reason', 'recoveryTimeout'],
  ],
  ['grantBudget', (options: never) => grantBudget(ledger, 'b', options), {}, ['reason', 'amount']],
  ['createMetrics', createMetrics, { maxSeries: 1, max: 1 }, ['maxSeries', 'max']],
  ['logger', (options: never) => logger(() => undefined, options), { quiet: 1, quite: 1 }, ['quiet', 'quite']],
  ['otel', (options: never) => otel(undefined, options), { api: 1, spans: 1, metrics: 1 }, ['api', 'spans', 'metrics']],
  ['simulate', (scenario: never) => simulate(scenario, SUBJECT, 1), { clients: -1, load: 'x' }, ['clients', 'load']],
  ['wellKnown', wellKnown, { timeout: 'x', timout: 1 }, ['timeout', 'timout']],
  ['virtualClock', virtualClock, { startMs: 'x', start: 1 }, ['startMs', 'start']],
]

async function refusal(
  call: Loose,
  options: unknown,
): Promise<{ subject: string; problems: readonly OptionProblem[] }> {
  const error = await new Promise((resolve) => resolve(call(options as never))).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (isRepriseError(error, 'invalid_options')) return error
  throw new Error('It was not refused for its options', { cause: error })
}

describe('wrong options', () => {
  test.each(CASES)('of %s are named together', async (subject, call, options, paths) => {
    const { subject: named, problems } = await refusal(call, options)
    expect(problems.map(({ path }) => path).toSorted()).toEqual([...paths].toSorted())
    expect(problems.filter(({ message }) => message === '')).toEqual([])
    expect(named).toBe(subject)
  })

  test('of a durable task are named by its name', async () => {
    const durable = await openDurable('memory:')
    const define =
      (name: string): Loose =>
      (options: never) =>
        durable.task(name, {}, run, options)
    await expect(refusal(define('a'), { onInterupt: 'fail' })).resolves.toMatchObject({ subject: 'the task a' })
    await expect(refusal(define('b'), { onInterrupt: 'no' })).resolves.toMatchObject({ subject: 'the task b' })
    const task = durable.task('c', {}, run)
    await expect(refusal((options: never) => task.run(null, options), { id: '\n' })).resolves.toMatchObject({
      subject: 'the task c',
      problems: [{ path: 'id' }],
    })
    const hedged = (): unknown => durable.task('d', { hedge: { delay: 1 } }, run)
    expect(hedged).toThrow(
      expect.objectContaining({ code: 'invalid_policy', problems: [expect.objectContaining({ path: 'hedge' })] }),
    )
    await durable.close()
  })
})
