/**
 * Random stories of an adaptive budget: attempts that ask, wait, leave, end and hand back, over a time that goes on,
 * stands still and sometimes goes back. What happened is written down, beside a small model of what may happen.
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
  | { readonly type: 'hand back' }
  | { readonly type: 'leave'; readonly pick: number }
  | { readonly type: 'poll'; readonly random: number }
  | { readonly type: 'time'; readonly ms: number }

const limits: fc.Arbitrary<Limits> = fc.record({
  // Counted from the moment of the request.
  deadlineMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  ),
  attemptTimeoutMs: fc.constantFrom(undefined, 100, 3000),
})
const cost = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 7 }) },
)
const result = fc.constantFrom<Result>('success', 'success', 'success', 'failure', 'timeout', 'aborted', 'interrupted')
const latencyMs = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 4000 }) },
)
const ms = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -3000, max: 0 }) },
)
const pick = fc.nat(50)

const action = (results: fc.Arbitrary<Result>): fc.Arbitrary<Action> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('first' as const), limits }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('retry' as const, 'hedge' as const), limits, cost }) },
    { weight: 8, arbitrary: fc.record({ type: fc.constant('end' as const), pick, result: results, latencyMs }) },
    { weight: 1, arbitrary: fc.constant({ type: 'hand back' as const }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), pick }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('poll' as const),
        random: fc.double({ min: 0, max: 0.99, noNaN: true }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('time' as const), ms }) },
  )

export const story = (maxLength = 100): fc.Arbitrary<Action[]> => fc.array(action(result), { maxLength, size: 'max' })
/** Nothing succeeds, and nobody hands back what he got. */
export const outage = fc
  .array(action(fc.constantFrom<Result>('failure', 'timeout', 'aborted', 'interrupted')), {
    maxLength: 100,
    size: 'max',
  })
  .map((actions) => actions.filter(({ type }) => type !== 'hand back'))

/** How an attempt came to start: free, at a price, or as a probe. */
export type Way = 'free' | 'paid' | 'probe'

export interface Running {
  readonly request: BudgetRequest
  readonly decision: Decision
  readonly way: Way
  readonly startMs: number
}

export interface Waiting {
  readonly request: BudgetRequest
  /** After that it may be taken for too late. */
  readonly lastStartMs: number
  readonly leave: () => void
  state: 'waiting' | 'woken' | 'left'
  mayBeLate: boolean
}

/** In the order of what happened. `maxCredit` is what may be kept at that rate: a tenth of it, or one. */
export type Event = { readonly maxCredit: number } & (
  | {
      readonly type: 'launch'
      readonly way: Way
      readonly cost: number
      readonly inFlight: number
      readonly slots: number
    }
  | { readonly type: 'success' | 'unused'; readonly refund: number }
)

const START_MS = 100_000

export class Story {
  readonly budget: AdaptiveBudget
  now = START_MS
  readonly events: Event[] = []
  readonly running: Running[] = []
  /** In the order of joining. */
  line: Waiting[] = []
  /** Somebody may have been passed over since the line was last empty. */
  mayBeOverrun = false
  /** Checked when somebody is woken. */
  onWake: (waiting: Waiting) => void = () => undefined
  private readonly rate = new CallRate()
  private slowestMs = 0

  constructor(options: AdaptiveBudgetOptions = {}, floorMs?: number) {
    this.budget = adaptiveBudget({ maxParked: 8, ...options })
    if (floorMs === undefined) return
    const rate = { perSecond: 0, atMs: this.now }
    this.rate.restore(rate)
    this.budget.restore({ waste: 5, used: 0, latencies: [floorMs], rate })
  }

  play(actions: readonly Action[], check: () => void = () => undefined): this {
    for (const each of actions) {
      this.act(each)
      check()
    }
    return this
  }

  act(each: Action): void {
    this.look()
    if (each.type === 'time') this.now += each.ms
    else if (each.type === 'poll') this.budget.poll(this.now, () => each.random)
    else if (each.type === 'leave') this.leave(each.pick)
    else if (each.type === 'end') this.end(each.pick, each.result, each.latencyMs)
    else if (each.type === 'hand back') this.handBack()
    else this.ask(each.type, each.limits, 'cost' in each ? each.cost : 1)
  }

  get rateNow(): number {
    return this.rate.perSecond(this.now)
  }

  get maxCredit(): number {
    return Math.max(1, 0.1 * this.rateNow)
  }

  /** By rate and floor, without what widens or narrows them; without end while there is no floor. */
  get slots(): number {
    const { floorMs } = this
    return floorMs === undefined ? Infinity : Math.max(2, Math.ceil((4 * this.rateNow * floorMs) / 1000))
  }

  private get floorMs(): number | undefined {
    const { latencies } = this.budget.snapshot()
    return latencies.length === 0 ? undefined : Math.min(...latencies)
  }

  /** Whose time has run out is passed over when the budget looks, which may be whenever something happens. */
  private look(): void {
    for (const waiting of this.line) if (this.now > waiting.lastStartMs) waiting.mayBeLate = this.mayBeOverrun = true
  }

  private ask(type: 'first' | 'retry' | 'hedge', given: Limits, price: number): void {
    const { now } = this
    const request: BudgetRequest = {
      key: 'k',
      attempt: type === 'first' ? 1 : 2,
      kind: type === 'hedge' ? 'hedge' : 'retry',
      ref: { name: 'b', cost: price },
      now,
      deadlineMs: now + given.deadlineMs,
      attemptTimeoutMs: given.attemptTimeoutMs,
    }
    if (type === 'first') this.rate.count(now)
    const decision = this.budget.allowAttempt(request)
    if (decision.allowed) this.launched(request, decision, type === 'first' ? 'free' : 'paid')
    else if (type !== 'hedge') this.park(request)
  }

  private park(request: BudgetRequest): void {
    const { deadlineMs, attemptTimeoutMs = 0 } = request
    const waiting: Waiting = {
      request,
      // No floor is above the slowest answer.
      lastStartMs: deadlineMs - Math.max(4 * this.slowestMs, attemptTimeoutMs / 4),
      leave: () => leave(),
      state: 'waiting',
      mayBeLate: false,
    }
    this.line.push(waiting)
    this.look()
    const leave = this.budget.park(request, (grant) => this.woken(waiting, grant))
  }

  private woken(waiting: Waiting, grant: Decision): void {
    if (grant.allowed) this.onWake(waiting)
    if (waiting.state !== 'waiting') throw new Error(`woken after it was ${waiting.state}`)
    waiting.state = 'woken'
    this.forget(waiting)
    if (!grant.allowed) return
    const usual = waiting.request.attempt === 1 ? 'free' : 'paid'
    this.launched(waiting.request, grant, grant.reason === 'probe' ? 'probe' : usual)
  }

  private launched(request: BudgetRequest, decision: Decision, way: Way): void {
    const { maxCredit, slots } = this
    const { inFlight } = this.budget
    this.events.push({ type: 'launch', way, cost: chargeOf(request, way), inFlight, slots, maxCredit })
    this.running.push({ request, decision, way, startMs: this.now })
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
    if (this.line.length === 0) this.mayBeOverrun = false
  }

  /** It ends when it has taken so long, or now if that was before. */
  private end(index: number, how: Result, atLeastMs: number): void {
    const [ended] = this.running.splice(index % this.running.length, 1)
    if (ended === undefined) return
    this.now = Math.max(this.now, ended.startMs + atLeastMs)
    this.look()
    this.settle(ended, how, Math.max(1, this.now - ended.startMs), index % 2 === 0)
  }

  /** Who was let go last does not start after all. */
  private handBack(): void {
    const last = this.running.at(-1)
    if (last?.startMs !== this.now) return
    this.running.pop()
    this.settle(last, 'aborted', 0, false)
  }

  private settle({ request, decision, way }: Running, how: Result, latency: number, first: boolean): void {
    const { maxCredit } = this
    const charge = chargeOf(request, way)
    const won = how === 'success' && first
    const helped = request.kind === 'retry' || won
    // Its end may let others start, so it is written down before.
    if (how === 'success') {
      this.slowestMs = Math.max(this.slowestMs, latency)
      this.events.push({ type: 'success', refund: helped ? charge : 0, maxCredit })
    } else if (latency === 0 && way === 'paid') {
      this.events.push({ type: 'unused', refund: charge, maxCredit })
    }
    const outcome = { result: how, latencyMs: latency, won, now: this.now }
    if (decision.release === undefined) this.budget.settle(request, outcome)
    else decision.release(outcome)
  }
}

function chargeOf(request: BudgetRequest, way: Way): number {
  return way === 'paid' && request.attempt > 1 ? Math.min(5, request.ref.cost) : 0
}
