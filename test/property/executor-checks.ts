/** What must be true of every call, whatever its policy and fate. */
import { expect } from 'vitest'
import {
  type AttemptRecord,
  BreakerOpenError,
  BudgetDeniedError,
  CallTimeoutError,
  normalizePolicy,
  type Policy,
  type PolicyInput,
  type RepriseEvent,
  ResultError,
  RetryBudgetExhaustedError,
  type Timeline,
} from '../../packages/reprise/src/index.js'

/** An execution as the operation saw it. */
export interface Seen {
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptRecord['kind']
  readonly startMs: number
  /** Whether it was started though the call was over. */
  afterEnd: boolean
  error: unknown
}

export interface ObservedCall {
  readonly policy: PolicyInput
  readonly seen: readonly Seen[]
  readonly abort: AbortController | undefined
  readonly result: { readonly ok: boolean; readonly value: unknown } | undefined
  readonly timeline: Timeline | undefined
  readonly startedMs: number
  readonly endedMs: number
}

/** Sums of fractions of milliseconds since the epoch. */
const CLOSE_MS = 0.01

export function checkCall(call: ObservedCall): void {
  const { policy } = normalizePolicy(call.policy)
  expect(call.result, 'the call has not settled').toBeDefined()
  checkExecutions(call, policy)
  if (policy.timeoutMs !== undefined) {
    expect(call.endedMs - call.startedMs, 'longer than its timeout').toBeLessThanOrEqual(policy.timeoutMs + CLOSE_MS)
  }
  if (call.timeline === undefined) return
  checkRecords(call, policy, call.timeline)
  checkTotals(call, policy, call.timeline)
  checkEnd(call, policy, call.timeline)
}

function checkExecutions({ seen }: ObservedCall, policy: Policy): void {
  const maxHedges = policy.hedge?.maxHedges ?? 0
  expect(seen.every(({ launch }, i) => launch > (seen[i - 1]?.launch ?? 0))).toBe(true)
  expect(seen.length).toBeLessThanOrEqual(policy.attempts * (1 + maxHedges))
  expect(seen.filter(({ afterEnd }) => afterEnd)).toEqual([])
  let attempt = 0
  let hedges = 0
  for (const execution of seen) {
    if (execution.kind === 'retry') {
      expect(execution.attempt).toBe(++attempt)
      hedges = 0
    } else {
      expect(execution.attempt).toBe(attempt)
      expect(++hedges).toBeLessThanOrEqual(maxHedges)
    }
  }
  expect(attempt).toBeLessThanOrEqual(policy.attempts)
}

function checkRecords({ seen }: ObservedCall, policy: Policy, timeline: Timeline): void {
  const made = timeline.attempts.filter(({ outcome }) => outcome !== 'denied')
  expect(made).toHaveLength(seen.length)
  for (const [i, { attempt, launch, kind, startMs, error }] of seen.entries()) {
    const record = made[i]
    if (record === undefined) continue
    expect(record).toMatchObject({ attempt, launch, kind, hedge: kind === 'hedge', budgetAllowed: true })
    expect(record.startMs).toBeCloseTo(startMs, 2)
    expect(record.endMs).toBeGreaterThanOrEqual(record.startMs)
    if (policy.attemptTimeoutMs !== undefined) {
      expect(record.endMs - record.startMs).toBeLessThanOrEqual(policy.attemptTimeoutMs + CLOSE_MS)
    }
    if (record.outcome === 'failure' && !(record.error instanceof ResultError)) {
      expect(record.error).toBe(error)
    }
  }
  // A denied launch has used its number up.
  expect(timeline.attempts.map(({ launch }) => launch)).toEqual(timeline.attempts.map((_, i) => i + 1))
  for (const { outcome, budgetAllowed } of timeline.attempts) expect(budgetAllowed).toBe(outcome !== 'denied')
}

/** Each retry starts where the attempt before ended, plus the wait, plus the time in line. */
function checkTotals(call: ObservedCall, policy: Policy, timeline: Timeline): void {
  const retries = timeline.attempts.filter(({ kind }) => kind === 'retry')
  let waited = 0
  retries.forEach((record, i) => {
    const before = retries[i - 1]
    const launches = timeline.attempts.filter((one) => one.attempt === before?.attempt && one.outcome !== 'denied')
    const endMs = before === undefined ? call.startedMs : Math.max(...launches.map((one) => one.endMs))
    expect(record.startMs).toBeCloseTo(endMs + record.delayBeforeMs + record.parkedMs, 2)
    waited += record.delayBeforeMs
  })
  const { totalDelayMs } = timeline
  const isInterruptedWait = ['aborted', 'timeout', 'breaker_open'].includes(timeline.stopReason ?? '')
  if (isInterruptedWait) expect(totalDelayMs).toBeGreaterThanOrEqual(waited - CLOSE_MS)
  else expect(totalDelayMs).toBeCloseTo(waited, 2)
  if (policy.retryBudgetMs !== undefined) expect(totalDelayMs).toBeLessThanOrEqual(policy.retryBudgetMs)
  expect(timeline.elapsedMs).toBeCloseTo(call.endedMs - call.startedMs, 2)
  expect(Object.isFrozen(timeline) && Object.isFrozen(timeline.attempts)).toBe(true)
}

function checkEnd({ result, seen, abort }: ObservedCall, policy: Policy, timeline: Timeline): void {
  const { ok, value } = result as NonNullable<ObservedCall['result']>
  const won = timeline.attempts.filter((record) => record.won)
  expect(won).toHaveLength(ok ? 1 : 0)
  if (ok) {
    expect(timeline.stopReason).toBeUndefined()
    expect(won[0]?.outcome).toBe('success')
    if (typeof value === 'object') expect(value).toMatchObject({ by: won[0]?.launch })
    return
  }
  const failures = timeline.attempts.filter(({ outcome }) => outcome === 'failure' || outcome === 'timeout')
  const last = timeline.attempts.findLast(({ outcome }) => outcome !== 'denied')?.attempt
  const lastErrors = failures.filter(({ attempt }) => attempt === last).map(({ error }) => error)
  switch (timeline.stopReason) {
    case 'aborted':
      expect(abort?.signal.aborted).toBe(true)
      expect(value).toBe(abort?.signal.reason)
      break
    case 'timeout':
      expect(value).toBeInstanceOf(CallTimeoutError)
      break
    case 'breaker_open':
      expect(value).toBeInstanceOf(BreakerOpenError)
      break
    case 'retry_budget_exhausted':
      expect(value).toBeInstanceOf(RetryBudgetExhaustedError)
      expect(lastErrors).toContain((value as Error).cause)
      break
    case 'budget_denied':
      expect(timeline.attempts.at(-1)?.outcome).toBe('denied')
      expect(timeline.budgetReason).toBe(timeline.attempts.at(-1)?.budgetReason)
      if (seen.length === 0) expect(value).toBeInstanceOf(BudgetDeniedError)
      else expect(lastErrors).toContain(value)
      break
    case 'attempts_exhausted':
      expect(last).toBe(policy.attempts)
      expect(lastErrors).toContain(value)
      break
    case 'not_retryable':
      expect(value).toBeInstanceOf(RangeError)
      expect(lastErrors).toContain(value)
      break
    case 'retry_after_too_long':
      expect(lastErrors).toContain(value)
      break
    default:
      expect.unreachable(`stopped with ${timeline.stopReason}`)
  }
  expectOneDenial(timeline.attempts)
}

/** A retry that was denied ends the call: it is the last record. */
function expectOneDenial(records: readonly AttemptRecord[]): void {
  const index = records.findIndex(({ kind, outcome }) => kind === 'retry' && outcome === 'denied')
  if (index >= 0) expect(index).toBe(records.length - 1)
}

/** Of every call: one beginning, first; one end, last; each attempt started and finished once, in between. */
export function checkEvents(events: readonly RepriseEvent[]): void {
  const byCall = new Map<number, RepriseEvent[]>()
  for (const event of events) {
    if (event.type === 'breaker_changed') continue
    byCall.set(event.callId, [...(byCall.get(event.callId) ?? []), event])
  }
  for (const told of byCall.values()) {
    const types = told.map(({ type }) => type)
    const ends = types.filter((type) => type === 'call_succeeded' || type === 'call_failed')
    expect(types[0], types.join()).toBe('call_started')
    expect(ends, types.join()).toEqual([types.at(-1)])
    const started = told.flatMap((event) => (event.type === 'attempt_started' ? [event.launch] : []))
    const finished = told.flatMap((event) => (event.type === 'attempt_finished' ? [event.launch] : []))
    expect(
      started.every((launch, i) => launch > (started[i - 1] ?? 0)),
      String(started),
    ).toBe(true)
    expect(
      finished.toSorted((a, b) => a - b),
      types.join(),
    ).toEqual(started)
  }
}
