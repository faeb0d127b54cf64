/**
 * Random histories of an adaptive budget: attempts ask, wait, leave the line, end and return grants, over a clock that
 * advances, stands still and sometimes goes back. What happens is recorded, beside a small model of what may happen.
 */
import * as fc from 'fast-check'
import type { AttemptOutcome, BudgetRequest, Decision } from '../../packages/reprise/src/core/budget.js'
import { CallRate } from '../../packages/reprise/src/core/budgets/call-rate.js'
import {
  type AdaptiveBudget,
  type AdaptiveBudgetOptions,
  adaptiveBudget,
} from '../../packages/reprise/src/core/budgets/index.js'

export const COMBINATIONS: readonly AdaptiveBudgetOptions[] = [false, true].flatMap((bulkhead) =>
  [false, true].map((strict) => ({ bulkhead, strict })),
)

type Result = AttemptOutcome['result']
type Limits = Pick<BudgetRequest, 'deadlineMs' | 'attemptTimeoutMs'>

export type Action =
  | { readonly type: 'first'; readonly limits: Limits }
  | { readonly type: 'retry' | 'hedge'; readonly limits: Limits; readonly cost: number }
  | { readonly type: 'end'; readonly pick: number; readonly result: Result; readonly latencyMs: number }
  | { readonly type: 'return grant' }
  | { readonly type: 'leave'; readonly pick: number }
  | { readonly type: 'poll'; readonly random: number }
  | { readonly type: 'time'; readonly ms: number }

const limits: fc.Arbitrary<Limits> = fc.record({
  // Counted from the moment of the request.
  deadlineMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  ),
  attemptTimeoutMs: fc.constantFrom(undefined, 100, 1000, 3000),
})
const cost = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 7 }) },
)
const result = fc.constantFrom<Result>('success', 'success', 'success', 'failure', 'timeout', 'aborted', 'interrupted')
const latencyMs = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 4000 }) },
)
const ms = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -3000, max: 0 }) },
)
const pick = fc.nat(50)
const random = fc.double({ min: 0, max: 0.99, noNaN: true })

const action = (results: fc.Arbitrary<Result>): fc.Arbitrary<Action> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('first' as const), limits }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('retry' as const, 'hedge' as const), limits, cost }) },
    { weight: 8, arbitrary: fc.record({ type: fc.constant('end' as const), pick, result: results, latencyMs }) },
    { weight: 1, arbitrary: fc.constant({ type: 'return grant' as const }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), pick }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('poll' as const), random }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('time' as const), ms }) },
  )

/** The rate of calls is known from the first on: a client has made a call before it retries one. */
const FIRST_CALL: Action = { type: 'first', limits: { deadlineMs: Infinity, attemptTimeoutMs: 1000 } }
const actionsWith = (results: fc.Arbitrary<Result>): fc.Arbitrary<Action[]> =>
  fc.array(action(results), { maxLength: 100, size: 'max' }).map((actions) => [FIRST_CALL, ...actions])

export const history = actionsWith(result)
/** Nothing succeeds, and no grant is returned. */
export const outage = actionsWith(fc.constantFrom<Result>('failure', 'timeout', 'aborted', 'interrupted')).map(
  (actions) => actions.filter(({ type }) => type !== 'return grant'),
)
/** All attempts cost one token. */
export const cheap = (actions: readonly Action[]): Action[] =>
  actions.map((each) => ('cost' in each ? { ...each, cost: 1 } : each))

/** How an attempt came to start: as a first attempt, for credit, or as a probe. */
export type Way = 'first' | 'paid' | 'probe'

export interface Running {
  readonly request: BudgetRequest
  readonly way: Way
  readonly startMs: number
}

export interface Waiting {
  readonly request: BudgetRequest
  readonly joinedMs: number
  readonly patienceMs: number
  readonly leave: () => void
  state: 'waiting' | 'woken' | 'left'
  /** Its time has run out at an event: the budget may have passed over it. */
  mayBeLate: boolean
}

/** In the order of what happened. */
export type Event =
  /** `mostCredit` may have been kept until then. `isFresh`: the last fast success is evidence still. */
  | { readonly type: 'launch'; readonly way: Way; readonly mostCredit: number; readonly isFresh: boolean }
  /** `mints` credit; `returns` the token of a retry or hedge. */
  | { readonly type: 'success'; readonly mints: boolean; readonly returns: boolean }
  /** A grant of a retry or hedge came back unused. */
  | { readonly type: 'unused' }
  /** The first call after half a minute without one: it may have a retry, as at the start. */
  | { readonly type: 'anew' }

const START_MS = 100_000
const DEFAULT_PATIENCE_MS = 30_000
const IDLE_MS = 30_000
const PLACES = 8

export class AdaptiveHistory {
  readonly budget: AdaptiveBudget
  now = START_MS
  readonly events: Event[] = []
  /** What the budget answered and granted, in order. */
  readonly answers: string[] = []
  readonly running: Running[] = []
  /** In the order of joining. */
  line: Waiting[] = []
  /** Lines, by whether of first attempts, in which a waiter may have been passed over since they were last empty. */
  private readonly overrun = new Set<boolean>()
  /** Called when an attempt is about to be woken with a grant. */
  onWake: (waiting: Waiting) => void = () => undefined
  private readonly rate = new CallRate()
  private patienceMs = DEFAULT_PATIENCE_MS
  private lastFastMs = Infinity
  private helpedInARow = 0
  /** Mean time of the last answers. */
  private answerMs = 0
  private lastStartMs = Infinity

  constructor(options: AdaptiveBudgetOptions = {}) {
    this.budget = adaptiveBudget({ maxParked: PLACES, ...options })
  }

  play(actions: readonly Action[], check: () => void = () => undefined): this {
    for (const each of actions) {
      this.act(each)
      check()
    }
    return this
  }

  act(each: Action): void {
    this.markLate()
    if (each.type === 'time') this.now += each.ms
    else if (each.type === 'poll') this.budget.poll(this.now, () => each.random)
    else if (each.type === 'leave') this.leave(each.pick)
    else if (each.type === 'end') this.end(each.pick, each.result, each.latencyMs)
    else if (each.type === 'return grant') this.returnGrant()
    else this.ask(each.type, each.limits, 'cost' in each ? each.cost : 1)
    this.markLate()
  }

  get callsPerSecond(): number {
    return this.rate.perSecond(this.now)
  }

  /** A tenth of a second's calls or one; up to four for a client with few calls whose retries have helped. */
  get mostCredit(): number {
    const { callsPerSecond } = this
    return Math.max(1, 0.1 * callsPerSecond, callsPerSecond < 1 ? Math.min(4, this.helpedInARow) : 0)
  }

  /** The waiters that are certainly still in line, of first attempts or of retries. */
  inTime(isFirst: boolean): Waiting[] {
    return this.line.filter((waiting) => !waiting.mayBeLate && isFirstAttempt(waiting) === isFirst)
  }

  isInOrder(waiting: Waiting): boolean {
    const isFirst = isFirstAttempt(waiting)
    return this.overrun.has(isFirst) || waiting === this.line.find((other) => isFirstAttempt(other) === isFirst)
  }

  /** The budget passes over waiters whose time has run out, at any event. */
  private markLate(): void {
    for (const waiting of this.line) {
      const { joinedMs, patienceMs, request } = waiting
      const neededMs = Math.min(patienceMs, Math.max(patienceMs / 4, this.answerMs))
      if (this.now <= Math.max(joinedMs, request.deadlineMs - neededMs)) continue
      waiting.mayBeLate = true
      this.overrun.add(isFirstAttempt(waiting))
    }
  }

  private ask(type: 'first' | 'retry' | 'hedge', given: Limits, price: number): void {
    const { now } = this
    const request: BudgetRequest = {
      key: 'k',
      attempt: type === 'retry' ? 2 : 1,
      launch: type === 'first' ? 1 : 2,
      kind: type === 'hedge' ? 'hedge' : 'retry',
      ref: { name: 'b', cost: price },
      now,
      deadlineMs: now + given.deadlineMs,
      attemptTimeoutMs: given.attemptTimeoutMs,
    }
    if (type === 'first') {
      this.rate.count(now)
      if (now - this.lastStartMs >= IDLE_MS) {
        this.lastFastMs = Infinity
        this.events.push({ type: 'anew' })
      }
    }
    this.patienceMs = patienceOf(request, now)
    const decision = this.budget.allowAttempt(request)
    this.answers.push(decision.reason)
    if (decision.allowed) this.launched(request, type === 'first' ? 'first' : 'paid')
    else if (type !== 'hedge') this.park(request)
  }

  private park(request: BudgetRequest): void {
    const waiting: Waiting = {
      request,
      joinedMs: this.now,
      patienceMs: this.patienceMs,
      leave: () => leave(),
      state: 'waiting',
      mayBeLate: false,
    }
    this.line.push(waiting)
    const leave = this.budget.park(request, (grant) => this.woken(waiting, grant))
  }

  private woken(waiting: Waiting, grant: Decision): void {
    if (grant.allowed) this.onWake(waiting)
    if (waiting.state !== 'waiting') throw new Error(`woken after it was ${waiting.state}`)
    waiting.state = 'woken'
    this.forget(waiting)
    this.answers.push(`woken: ${grant.reason}`)
    if (!grant.allowed) return
    const usual = isFirstAttempt(waiting) ? 'first' : 'paid'
    this.launched(waiting.request, grant.reason === 'probe' ? 'probe' : usual)
  }

  private launched(request: BudgetRequest, way: Way): void {
    const { mostCredit, now } = this
    const isFresh = now - this.lastFastMs <= this.patienceMs || (this.callsPerSecond < 1 && this.helpedInARow > 0)
    this.events.push({ type: 'launch', way, mostCredit, isFresh })
    this.running.push({ request, way, startMs: now })
    this.lastStartMs = now
  }

  private leave(index: number): void {
    const waiting = this.line[index % this.line.length]
    if (waiting === undefined) return
    waiting.leave()
    waiting.state = 'left'
    this.forget(waiting)
  }

  private forget(waiting: Waiting): void {
    this.line = this.line.filter((other) => other !== waiting)
    const isFirst = isFirstAttempt(waiting)
    if (!this.line.some((other) => isFirstAttempt(other) === isFirst)) this.overrun.delete(isFirst)
  }

  /** It ends after this latency, or now if that was before. */
  private end(index: number, how: Result, atLeastMs: number): void {
    const [ended] = this.running.splice(index % this.running.length, 1)
    if (ended === undefined) return
    this.now = Math.max(this.now, ended.startMs + atLeastMs)
    this.markLate()
    this.conclude(ended, how, Math.max(1, this.now - ended.startMs), index % 2 === 0)
  }

  /** The attempt that was allowed last does not start after all. */
  private returnGrant(): void {
    const last = this.running.at(-1)
    if (last?.startMs !== this.now) return
    this.running.pop()
    this.conclude(last, 'aborted', 0, false)
  }

  private conclude({ request, startMs }: Running, how: Result, latency: number, hasWon: boolean): void {
    const isFirst = request.launch === 1
    const isRetry = !isFirst && request.kind === 'retry'
    const won = how === 'success' && hasWon
    // The end may let others start, so it is recorded before.
    if (how === 'success') {
      const mints = latency <= patienceOf(request, startMs) / 4
      if (mints) this.lastFastMs = this.now
      this.answerMs += (latency - this.answerMs) / 8
      this.markLate()
      if (isRetry) this.helpedInARow++
      this.events.push({ type: 'success', mints, returns: mints && !isFirst && (isRetry || won) })
    } else if (latency === 0) {
      if (!isFirst) this.events.push({ type: 'unused' })
    } else if (isRetry && (how === 'failure' || how === 'timeout')) this.helpedInARow = 0
    this.budget.conclude(request, { result: how, latencyMs: latency, won, now: this.now })
  }
}

function isFirstAttempt({ request }: Waiting): boolean {
  return request.launch === 1
}

function patienceOf({ attemptTimeoutMs, deadlineMs }: BudgetRequest, startMs: number): number {
  if (attemptTimeoutMs !== undefined) return attemptTimeoutMs
  return deadlineMs < Infinity ? Math.max(1, deadlineMs - startMs) : DEFAULT_PATIENCE_MS
}
