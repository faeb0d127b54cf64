/**
 * The rules of jobs against models that do the same by brute force: completion by looking at every millisecond, the retry
 * budget by counting a log from its beginning at every question.
 */
import {
  afterSuccess,
  type CompletionReason,
  type CompletionState,
  type DatacenterEnd,
  effectiveSettings,
  type EffectiveSettings,
  evaluateCompletion,
  grantRetry,
  newRetryBudget,
  readJobRequest,
  readOperatorSettings,
} from '@reprise/jobs/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const LAST_MS = 60
// Deadlines of a few milliseconds, so that a model can look at each of them.
const OPERATOR = readOperatorSettings({
  BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0.001',
  BEST_EFFORT_DEFAULT_DEADLINE_SECONDS: '0.05',
})

interface Site {
  readonly end: DatacenterEnd
  readonly atMs: number
  readonly isAlive: boolean
}

const site = fc.record({
  end: fc.constantFrom<DatacenterEnd>('completed', 'completed_with_failures', 'failed'),
  atMs: fc.integer({ min: 1, max: LAST_MS * 2 }),
  isAlive: fc.boolean(),
})

const history = fc.record({
  sites: fc.array(site, { minLength: 1, maxLength: 4 }),
  bestEffort: fc.boolean(),
  minDcs: fc.integer({ min: 0, max: 5 }),
  deadlineMs: fc.integer({ min: 1, max: LAST_MS }),
  settleMs: fc.integer({ min: 0, max: 20 }),
  timeoutMs: fc.option(fc.integer({ min: 1, max: LAST_MS * 2 })),
  strict: fc.boolean(),
  all: fc.boolean(),
})

type History = typeof history extends fc.Arbitrary<infer H> ? H : never

function settingsOf({
  sites,
  bestEffort,
  minDcs,
  deadlineMs,
  settleMs,
  timeoutMs,
  strict,
  all,
}: History): EffectiveSettings {
  const request = readJobRequest({
    workflows: [{ name: 'w', handler: 'h' }],
    datacenters: sites.map((_, index) => `d${index}`),
    best_effort: bestEffort,
    best_effort_min_dcs: minDcs,
    best_effort_deadline_seconds: deadlineMs / 1000,
    best_effort_settle_seconds: settleMs / 1000,
    ...(timeoutMs !== null && { timeout: `${timeoutMs}ms` }),
    strict_min_dcs: strict,
    datacenter_success: all ? 'all' : 'any',
  })
  return effectiveSettings(request, OPERATOR).settings
}

interface Ending {
  readonly atMs: number
  readonly reason: CompletionReason
  readonly outcome: string
  readonly success: boolean
}

function stateAt(settings: EffectiveSettings, sites: readonly Site[], now: number): CompletionState {
  const datacenters = sites.map(({ end, atMs, isAlive }, index) => ({
    name: `d${index}`,
    end: atMs <= now ? end : null,
    reportedAtMs: atMs <= now ? atMs : null,
    hasLivingWorker: isAlive,
  }))
  return { settings, submittedAtMs: 0, isCancelled: false, datacenters }
}

/** As drivers do it: asks at every report, and at the time that the last answer named. */
function endedByEvents(settings: EffectiveSettings, sites: readonly Site[]): Ending | null {
  const reports = [...new Set(sites.map(({ atMs }) => atMs))].toSorted((a, b) => a - b)
  let timerAtMs: number | null = null
  for (let now = 0; ; ) {
    const answer = evaluateCompletion(stateAt(settings, sites, now), now)
    if (answer.kind === 'complete') {
      const { reason, outcome, success } = answer
      return { atMs: now, reason, outcome, success }
    }
    timerAtMs = answer.nextAtMs
    const nextReport = reports.find((atMs) => atMs > now) ?? Infinity
    const next = Math.min(nextReport, timerAtMs ?? Infinity)
    if (next === Infinity) return null
    now = next
  }
}

/** As the rule is said: looks at every millisecond, and the first match wins. */
function endedByLooking(settings: EffectiveSettings, sites: readonly Site[]): Ending | null {
  const counts = ({ end }: Site): boolean =>
    end === 'completed' || (end === 'completed_with_failures' && settings.datacenterSuccess === 'any')
  let reachedAtMs: number | null = null
  for (let now = 0; now <= LAST_MS * 3; now++) {
    const reported = sites.filter(({ atMs }) => atMs <= now)
    const rest = sites.filter(({ atMs }) => atMs > now)
    const good = reported.filter(counts).length
    if (good >= settings.minDcs) reachedAtMs ??= now
    const isSettled =
      reachedAtMs !== null && (now >= reachedAtMs + settings.settleMs || rest.every(({ isAlive }) => !isAlive))
    const isPastDeadline = settings.deadlineMs !== null && now >= settings.deadlineMs
    let reason: CompletionReason | null = null
    if (rest.length === 0) reason = 'all_dcs_reported'
    else if (settings.bestEffort && reachedAtMs !== null && (isSettled || isPastDeadline)) reason = 'min_dcs_reached'
    else if (settings.bestEffort && isPastDeadline) reason = 'deadline_expired'
    else if (settings.timeoutMs !== null && now >= settings.timeoutMs) reason = 'timeout'
    if (reason === null) continue
    const isComplete = rest.length === 0 && reported.every(({ end }) => end === 'completed')
    const hasResult = reported.some(({ end }) => end !== 'failed')
    const isShort = settings.bestEffort && good < settings.minDcs
    const isEnough = settings.bestEffort && (good >= settings.minDcs || (!settings.strictMinDcs && good > 0))
    return {
      atMs: now,
      reason,
      outcome: isComplete ? 'complete' : !hasResult ? 'failed' : isShort ? 'below_minimum' : 'partial',
      success: reason !== 'timeout' && (isComplete || isEnough),
    }
  }
  return null
}

test('a job that is asked about at its reports and timers ends as one that is looked at every millisecond', () => {
  const reasons = new Map<string, number>()
  fc.assert(
    fc.property(history, (job) => {
      const settings = settingsOf(job)
      const ended = endedByEvents(settings, job.sites)
      reasons.set(ended?.reason ?? 'waits', (reasons.get(ended?.reason ?? 'waits') ?? 0) + 1)
      expect(ended).toEqual(endedByLooking(settings, job.sites))
    }),
    { numRuns: 2_000 },
  )
  // Else the histories are not what they should be.
  expect([...reasons.keys()]).toEqual(
    expect.arrayContaining(['all_dcs_reported', 'min_dcs_reached', 'deadline_expired', 'timeout']),
  )
})

test('an answer once given does not change while nothing is reported', () => {
  fc.assert(
    fc.property(history, fc.nat(LAST_MS), fc.nat(LAST_MS), (job, now, later) => {
      const settings = settingsOf(job)
      const first = evaluateCompletion(stateAt(settings, job.sites, now), now)
      if (first.kind === 'complete') {
        const frozen = stateAt(settings, job.sites, now)
        expect(evaluateCompletion(frozen, now + later)).toMatchObject({ kind: 'complete', outcome: first.outcome })
      } else if (first.nextAtMs !== null) {
        expect(first.nextAtMs).toBeGreaterThan(now)
      }
    }),
  )
})

type BudgetEvent = { readonly workflow: number; readonly isFailure: boolean }

test('a budget answers as if its log were counted from the beginning, and never exceeds its limits', () => {
  const events = fc.array(fc.record({ workflow: fc.nat(5), isFailure: fc.boolean() }), { maxLength: 60 })
  fc.assert(
    fc.property(fc.nat(8), fc.nat(4), fc.option(fc.integer({ min: 1, max: 6 })), fc.boolean(), events, playBudget),
    { numRuns: 1_000 },
  )
})

function playBudget(
  total: number,
  cap: number,
  ceiling: number | null,
  isWasted: boolean,
  events: readonly BudgetEvent[],
): void {
  const limits = { retryBudgetPerWorkflow: cap, maxDispatchAttempts: ceiling, onBudgetExhausted: 'fail' } as const
  const counts = isWasted ? 'wasted' : 'all'
  const ended = new Set<number>()
  /** `grant`, `refund`, and a workflow for each. */
  const log: { readonly kind: 'grant' | 'refund'; readonly workflow: number }[] = []
  let budget = newRetryBudget(total)
  const used = (): number => log.reduce((sum, { kind }) => sum + (kind === 'grant' ? 1 : -1), 0)
  for (const { workflow, isFailure } of events) {
    if (ended.has(workflow)) continue
    const charged = log.filter((entry) => entry.kind === 'grant' && entry.workflow === workflow).length
    if (!isFailure) {
      const success = afterSuccess(budget, charged > 0, counts)
      for (let refund = 0; refund < success.refunds; refund++) log.push({ kind: 'refund', workflow })
      budget = success.budget
      ended.add(workflow)
    } else {
      const answer = grantRetry(budget, { charged, attempts: charged + 1 }, limits, 0, 0)
      const isOver = ceiling !== null && charged + 1 >= ceiling
      const reason =
        used() >= total
          ? 'job_budget_exhausted'
          : charged >= cap
            ? 'workflow_budget_exhausted'
            : isOver
              ? 'dispatch_attempts_exhausted'
              : null
      if (answer.kind === 'granted') {
        expect(reason).toBeNull()
        log.push({ kind: 'grant', workflow })
        budget = answer.budget
      } else {
        expect(answer).toMatchObject({ kind: 'denied', denial: { reason } })
        ended.add(workflow)
      }
    }
    expect(budget.used).toBe(used())
    expect(budget.used).toBe(budget.grants - budget.refunds)
    expect(budget.used).toBeGreaterThanOrEqual(0)
    expect(budget.used).toBeLessThanOrEqual(total)
  }
}
