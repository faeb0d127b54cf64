/** Whatever happens to processes, the promises are kept; and the checkers would tell if they were not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decided, Ledger, Seat, View } from '../../packages/reprise/src/ledger/ledger.js'
import type { GateRecord, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { type Step, RandomLives } from './random-lives.js'
import { faultsOfCommit } from './watched-ledger.js'

const small = fc.nat({ max: 3 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('start' as const), task: small }) },
    { weight: 6, arbitrary: fc.record({ type: fc.constant('end' as const), which: small, ok: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.constantFrom(0, 500, 4000) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constantFrom('open' as const, 'kill' as const, 'close' as const, 'pause' as const, 'resume' as const),
        host: small,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constantFrom('cancel' as const, 'hasten' as const, 'reset' as const),
        task: small,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.oneof(
        fc.record({ type: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 3 }) }),
        fc.record({ type: fc.constantFrom('trip' as const, 'mend' as const) }),
      ),
    },
  ),
  { minLength: 5, maxLength: 40 },
)

/** Many failures, little to retry with, and now and then a little more. */
const scarce: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('start' as const), task: fc.nat({ max: 5 }) }) },
    { weight: 8, arbitrary: fc.record({ type: fc.constant('end' as const), which: small, ok: fc.constant(false) }) },
    { weight: 6, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.constant(4000) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('reset' as const), task: fc.nat({ max: 5 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('open' as const, 'kill' as const), host: small }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('resume' as const), host: small }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('mend' as const) }) },
  ),
  { minLength: 20, maxLength: 60 },
)

const PLAIN: readonly Step[] = [
  { type: 'start', task: 0 },
  { type: 'end', which: 0, ok: false },
  { type: 'pass', ms: 4000 },
  { type: 'kill', host: 0 },
  { type: 'open', host: 0 },
  { type: 'resume', host: 0 },
  { type: 'pass', ms: 4000 },
]

describe('a life of tasks and processes', () => {
  it('keeps every promise, whatever happens', { timeout: 60_000 }, async () => {
    const pauses = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 5 })
    const property = fc.asyncProperty(steps, pauses, fc.boolean(), async (taken, waited, slow) => {
      expect(await new RandomLives(undefined, slow).live(taken, waited)).toEqual([])
    })
    await fc.assert(property, { numRuns: 300, seed: Number(process.env['SEED'] ?? 2) })
  })

  it('never uses more of a count than its total and what was granted', { timeout: 60_000 }, async () => {
    const property = fc.asyncProperty(scarce, fc.boolean(), async (taken, slow) => {
      expect(await new RandomLives(undefined, slow, 1).live(taken)).toEqual([])
    })
    await fc.assert(property, { numRuns: 200, seed: Number(process.env['SEED'] ?? 2) })
  })

  it('keeps every promise in a plain one', async () => {
    expect(await new RandomLives().live(PLAIN)).toEqual([])
  })
})

const withState =
  (values: object) =>
  (gate: GateRecord): GateRecord => ({ ...gate, state: { ...(gate.state as object), ...values } })

describe('the checkers', () => {
  /** A ledger that changes what is decided before it is written. */
  const spoiled =
    (spoil: (after: TaskRecord, before: TaskRecord | undefined) => TaskRecord) =>
    (ledger: Ledger): Ledger => {
      const change = <T>(decided: Decided<T>, view: View): Decided<T> => ({
        ...decided,
        tasks: (decided.tasks ?? []).map((task) => spoil(task, view.task(task))),
      })
      return new Proxy(ledger, {
        get: (target, verb: keyof Ledger) => {
          if (verb === 'transact') {
            return (keys: never, decide: (view: View) => Decided<unknown>) =>
              target.transact(keys, (view) => change(decide(view), view))
          }
          if (verb === 'claim') {
            return (request: never, decide: (task: TaskRecord, view: View, seat: Seat) => Decided<unknown>) =>
              target.claim(request, (task, view, seat) => change(decide(task, view, seat), view))
          }
          return (target[verb] as ((...args: unknown[]) => unknown) | undefined)?.bind?.(target) ?? target[verb]
        },
      })
    }

  const withRetry = (task: TaskRecord, retry: Partial<TaskRecord['progress']['retry']>): TaskRecord => ({
    ...task,
    progress: { ...task.progress, retry: { ...task.progress.retry, ...retry } },
  })

  it.each<[string, RegExp, (after: TaskRecord, before: TaskRecord | undefined) => TaskRecord]>([
    ['I2: numbers', /follows|skips/, (after) => withRetry(after, { launched: after.progress.retry.launched + 1 })],
    ['I3: places', /with owner/, (after) => (after.status === 'waiting' ? { ...after, dueAtMs: null } : after)],
    [
      'I4: counts',
      /totalDelayMs fall/,
      (after) => (after.status === 'running' ? withRetry(after, { totalDelayMs: -1 }) : after),
    ],
    ['I7: fences', /one fence/, (after, before) => ({ ...after, fence: before?.fence ?? 0 })],
  ])('would tell of a broken %s', async (_what, said, spoil) => {
    // The watcher sits behind the spoiler: it sees what is written.
    const faults = await new RandomLives((ledger) => spoiled(spoil)(ledger)).live(PLAIN)
    expect(faults.join('\n')).toMatch(said)
  })

  it.each<[string, RegExp, (gate: GateRecord) => GateRecord]>([
    ['I4: grants', /nobody gave it/, withState({ granted: 1 })],
    ['I4: use', /use falls/, withState({ used: -1 })],
    ['I9: breakers', /before its time/, withState({ phase: 'closed' })],
    ['I9: manual revisions', /manual revision 9/, (gate) => ({ ...gate, manualRevision: 9 })],
  ])('would tell of broken %s', (_what, said, spoil) => {
    const state = { used: 1, keys: [], phase: 'open', openUntilMs: 2000 }
    const gate: GateRecord = { key: 'g', kind: 'budget', state }
    const view = { now: 1000, gate: () => gate } as unknown as View
    expect(faultsOfCommit(view, { gates: [gate] })).toEqual([])
    expect(faultsOfCommit(view, { gates: [spoil(gate)] }).join('\n')).toMatch(said)
  })

  it('would tell of an attempt that the ledger lost', async () => {
    const forgetful = (ledger: Ledger): Ledger =>
      new Proxy(ledger, {
        get: (target, verb: keyof Ledger) => {
          if (verb === 'attempts') return () => Promise.resolve([])
          return (target[verb] as ((...args: unknown[]) => unknown) | undefined)?.bind?.(target) ?? target[verb]
        },
      })
    const faults = await new RandomLives(forgetful).live(PLAIN)
    expect(faults.join('\n')).toMatch(/the ledger does not know/)
  })
})
