/**
 * Whatever calls happen in whatever order: what the metrics say is what the events said.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RepriseEvent } from 'reprise'
import { createMetrics, type MetricFamily } from 'reprise/observe'

const keys = fc.oneof(fc.constantFrom('a', 'b', 'other'), fc.string({ unit: 'binary', maxLength: 5 }))
const outcomes = fc.constantFrom('success', 'failure', 'timeout', 'aborted', 'interrupted')
const anyEvent = fc
  .tuple(
    fc.record({ key: keys, callId: fc.nat(3), timeMs: fc.nat(), attempt: fc.nat(5), attempts: fc.constant(5) }),
    fc.oneof(
      fc.record({ type: fc.constant('call_succeeded'), attemptsMade: fc.nat(5) }),
      fc.record({ type: fc.constant('call_failed'), stopReason: fc.constantFrom('timeout', 'aborted') }),
      fc.record({
        type: fc.constant('attempt_finished'),
        kind: fc.constantFrom('retry', 'hedge'),
        outcome: outcomes,
        durationMs: fc.nat(),
      }),
      fc.record({ type: fc.constant('waiting'), delayMs: fc.nat(100_000) }),
      fc.record({ type: fc.constant('parked'), launch: fc.nat(3), budget: keys }),
      fc.record({
        type: fc.constant('budget_decision'),
        launch: fc.nat(3),
        budget: keys,
        mode: fc.constantFrom('gate', 'peek', 'grant'),
        allowed: fc.boolean(),
        reason: fc.oneof(fc.constantFrom('allowed', 'budget_denied', 'park_expired'), fc.string()),
      }),
    ),
  )
  .map(([base, fields]) => ({ ...base, ...fields }) as unknown as RepriseEvent)

function total(families: readonly MetricFamily[], name: string): number {
  const family = families.find((one) => one.name === name)
  if (family === undefined) throw new Error(`no metric ${name}`)
  const numbers =
    family.type === 'histogram' ? family.samples.map((one) => one.sum) : family.samples.map((one) => one.value)
  return numbers.reduce((sum, number) => sum + number, 0)
}

test('totals equal the events, and lines are empty once every call has ended', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 200 }), fc.constantFrom(120, 2000), (events, maxSeries) => {
      const metrics = createMetrics({ maxSeries })
      for (const event of events) metrics.onEvent(event)
      const read = metrics.read()
      const count = (...types: string[]): number => events.filter((event) => types.includes(event.type)).length
      const waitedMs = events.reduce((sum, event) => sum + (event.type === 'waiting' ? event.delayMs : 0), 0)
      expect(total(read, 'reprise_calls_total')).toBe(count('call_succeeded', 'call_failed'))
      expect(total(read, 'reprise_attempts_total')).toBe(count('attempt_finished'))
      expect(total(read, 'reprise_budget_decisions_total')).toBe(count('budget_decision'))
      expect(total(read, 'reprise_wait_seconds')).toBeCloseTo(waitedMs / 1000, 6)
      for (const sample of read.find((one) => one.name === 'reprise_parked')?.samples ?? []) {
        expect('value' in sample && sample.value).toBeGreaterThanOrEqual(0)
      }
      for (let callId = 0; callId <= 3; callId++) {
        metrics.onEvent({
          type: 'call_succeeded',
          callId,
          key: 'end',
          timeMs: 0,
          attempt: 1,
          attempts: 1,
          attemptsMade: 1,
          launches: 1,
          totalDelayMs: 0,
          elapsedMs: 0,
        })
      }
      expect(total(metrics.read(), 'reprise_parked')).toBe(0)
    }),
  )
})
