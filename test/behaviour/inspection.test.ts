/** What `inspect` resolves to is a plain record, for whoever reads, spreads, prints, clones or serialises it. */
import { deepStrictEqual } from 'node:assert'
import { inspect } from 'node:util'
import type { Inspection, Operation, PolicyInput } from 'reprise'
import { describe, expect, test } from 'vitest'
import { callFixture } from './call-fixture.js'

const down = { message: 'down' }
const succeeds = (): string => 'done'
const fails = (): never => {
  throw down
}
let calls = 0
const failsFirst = (): string => (++calls % 2 === 1 ? fails() : 'done')

const CASES: readonly (readonly [string, PolicyInput, Operation<string>, result: object])[] = [
  ['of a success', {}, succeeds, { ok: true, value: 'done' }],
  ['of a success with limits', { attemptTimeout: '1s', timeout: '1m' }, succeeds, { ok: true, value: 'done' }],
  ['of a success with gates', { breaker: {}, budget: 'api' }, succeeds, { ok: true, value: 'done' }],
  ['of a success of the second attempt', { attempts: 2 }, failsFirst, { ok: true, value: 'done' }],
  ['of a failure', { attempts: 2 }, fails, { ok: false, error: down }],
  ['of a failure with limits', { attempts: 1, attemptTimeout: '1s' }, fails, { ok: false, error: down }],
]

async function inspected(policy: PolicyInput, operation: Operation<string>): Promise<Inspection<string>> {
  const { clock, executor } = callFixture(policy)
  const promise = executor.inspect('job', operation)
  await clock.runAll()
  return promise
}

describe.each(CASES)('an inspection %s', (_, policy, operation, result) => {
  test('has its own fields and no others', async () => {
    const record = await inspected(policy, operation)
    expect(Reflect.ownKeys(record)).toEqual([...Object.keys(result), 'timeline'])
    expect(Object.keys(record)).toEqual(Reflect.ownKeys(record))
    expect(Object.getPrototypeOf(record)).toBe(Object.prototype)
    expect(record).toMatchObject(result)
  })

  test('is the same after a spread, a clone and a serialisation', async () => {
    const record = await inspected(policy, operation)
    const { timeline } = record
    expect({ ...record }.timeline).toBe(timeline)
    deepStrictEqual({ ...record }, record)
    deepStrictEqual(structuredClone(record), record)
    const parsed = JSON.parse(JSON.stringify(record)) as Inspection<string>
    expect(parsed).toEqual(record)
    expect(parsed.timeline.attempts.map(({ outcome }) => outcome)).toEqual(
      timeline.attempts.map(({ outcome }) => outcome),
    )
  })

  test('is printed with its timeline', async () => {
    const record = await inspected(policy, operation)
    expect(inspect(record, { depth: 4 })).toContain(
      `timeline: ${inspect(record.timeline, { depth: 3 }).split('\n')[0]}`,
    )
    expect(inspect(record, { depth: 4 })).toContain(`outcome: '${record.timeline.attempts[0]?.outcome}'`)
  })

  test('has a timeline that is frozen through and through', async () => {
    const { timeline } = await inspected(policy, operation)
    for (const part of [timeline, timeline.attempts, timeline.notes, ...timeline.attempts]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })
})
