/**
 * The ack-clocked waste budget: transient failures are retried away, an outage is not made worse.
 *
 * - What is limited is *waste*: a retry or hedge takes a token and gets it back if it succeeds; each success deposits a
 *   fifth of one. So retries that help are free, and those that do not are few.
 * - A retry also needs one *credit*, which only a fast success mints: as acks clock a sender, the answers of a dependency
 *   that is well let the next retry go. In a total outage nothing is minted, however many calls fail.
 * - Who finds no credit waits in line until credit comes or his time is up.
 * - With a *bulkhead* first attempts that find no slot wait in the same line, each for an answer, fast or not, to follow.
 * - A dependency that nobody calls is probed, at the cost of neither.
 *
 * Bounds: retries in any interval ≤ credit at its start + successes in it + probes; wasted retries ≤ waste at its start +
 * a fifth of the successes + probes. O(1) per event, bounded memory, nothing kept of a call but its place in line.
 * Pure over `now`; the parts are in files of their own. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { readDuration } from '../duration.js'
import { ALLOWED } from '../gate.js'
import type { DurationInput } from '../policy.js'
import type { Random } from '../time.js'
import { Bulkhead } from './bulkhead.js'
import { CallRate, type CallRateState } from './call-rate.js'
import { IdleProbe } from './idle-probe.js'
import { DEFAULT_PATIENCE_MS, InFlight } from './in-flight.js'
import { LatencyFloor } from './latency-floor.js'
import { costOf, expectFlag, expectNumber, expectOptions, unexpected } from './numbers.js'
import { WaitingLine } from './waiting-line.js'

export interface AdaptiveBudgetOptions {
  /** Limits what is in flight too, first attempts included. */
  readonly bulkhead?: boolean | undefined
  /** Keeps no credit while nobody waits for it: the first second of an outage sees no retry at all. */
  readonly strict?: boolean | undefined
  /** Longest stay in line, for calls without a deadline. */
  readonly maxPark?: DurationInput | undefined
  /** Places in line; who comes when all are taken is denied. */
  readonly maxParked?: number | undefined
}

export interface AdaptiveBudgetState {
  readonly waste: number
  /** Attempts in flight, and how long their callers would wait: until then they count, unless somebody settles them. */
  readonly used: number
  readonly patienceMs: number
  /** Mean success latencies of the buckets that make the floor, oldest first. */
  readonly latencies: readonly number[]
  readonly rate: CallRateState
}

/** The words it uses beside those of every budget. */
export const ADAPTIVE_REASONS = ['no_credit', 'no_slot', 'line_full', 'probe'] as const
export type AdaptiveReason = (typeof ADAPTIVE_REASONS)[number]

/** What a success deposits, and so the share of attempts that may be waste. */
const DEPOSIT = 0.2
const MIN_WASTE = 5
const WASTE_SECONDS = 10
/** Credit that may be kept, as a share of a second's calls. */
const CREDIT_SHARE = 0.1
/** A success is fast within so many latency floors, or within this share of the attempt timeout. */
const FAST_FLOORS = 4
const FAST_TIMEOUT_SHARE = 0.25

const denied = (reason: AdaptiveReason): Decision => Object.freeze({ allowed: false, reason })
const NO_CREDIT = denied('no_credit')
const NO_SLOT = denied('no_slot')
const LINE_FULL = denied('line_full')

/** How long the caller of an attempt would wait for it. */
type Limits = Pick<BudgetRequest, 'deadlineMs' | 'attemptTimeoutMs'>

export class AdaptiveBudget implements Budget {
  readonly maxParkMs: number
  /** Replaced only by tests that show what they are for. */
  protected floor: LatencyFloor
  protected bulkhead: Bulkhead | undefined
  private readonly strict: boolean
  private readonly maxParked: number
  private rate = new CallRate()
  private flying = new InFlight()
  private readonly line = new WaitingLine()
  private readonly probe = new IdleProbe()
  private waste = MIN_WASTE
  private credit = 0
  /** Answers that first attempts in line may follow: with a slot, any answer will do for them. */
  private answers = 0

  constructor(options: AdaptiveBudgetOptions = {}) {
    const given = expectOptions('adaptiveBudget', options, ['bulkhead', 'strict', 'maxPark', 'maxParked'])
    const { bulkhead = false, strict = false, maxPark = '30s', maxParked = 10_000 } = given
    const maxParkMs = readDuration(maxPark)
    if (typeof maxParkMs === 'string') throw unexpected('adaptiveBudget maxPark', maxPark, "a duration such as '30s'")
    this.maxParkMs = maxParkMs
    this.maxParked = expectNumber('adaptiveBudget maxParked', maxParked, 10_000, 'a whole number of 0 or more')
    this.strict = expectFlag('adaptiveBudget strict', strict)
    this.bulkhead = expectFlag('adaptiveBudget bulkhead', bulkhead) ? new Bulkhead() : undefined
    this.floor = new LatencyFloor()
  }

  /** Attempts in flight. */
  get inFlight(): number {
    return this.flying.count
  }

  /** Attempts in line. */
  get parked(): number {
    return this.line.size
  }

  allowAttempt(request: BudgetRequest): Decision {
    const { now } = request
    if (request.attempt === 1) return this.allowFirst(request, now)
    const cost = wasteOf(request)
    if (this.line.size > 0 || !this.covers(cost, now)) return NO_CREDIT
    if (!this.hasSlot(now)) return NO_SLOT
    return this.launch(request, cost, now)
  }

  private allowFirst(request: BudgetRequest, now: number): Decision {
    this.rate.count(now)
    if (this.hasSlot(now)) return this.fly(request, now)
    this.bulkhead?.refused()
    return NO_SLOT
  }

  settle(request: BudgetRequest, outcome: AttemptOutcome): void {
    const isPaid = request.attempt > 1
    const { result, won, now } = outcome
    if (isPaid && isUnused(outcome)) {
      // A grant that nobody used: it goes to the next in line.
      this.addWaste(wasteOf(request), now)
      this.addCredit(1, now)
    } else if (isPaid && (result === 'failure' || result === 'timeout')) {
      this.probe.retryFailed()
    }
    const helped = result === 'success' && (request.kind === 'retry' || won)
    this.ended(request, outcome, isPaid && helped ? wasteOf(request) : 0)
  }

  park(request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    if (this.line.size >= this.maxParked) {
      wake(LINE_FULL)
      return () => undefined
    }
    const { now, deadlineMs, attemptTimeoutMs } = request
    // What was minted for others before the line was empty is not this one's.
    if (this.strict && this.line.size === 0) this.credit = 0
    const lastStartMs = deadlineMs - (this.floor.ms ?? 0)
    const cost = request.attempt === 1 ? 0 : wasteOf(request)
    const place = this.line.join({ cost, deadlineMs, attemptTimeoutMs, lastStartMs, wake })
    this.drain(now)
    return () => this.line.leave(place)
  }

  wakeAtMs(): number {
    if (this.line.size === 0) return Infinity
    return this.flying.count > 0 ? this.flying.lostAtMs : this.probe.wakeAtMs(this.rate.latest)
  }

  poll(now: number, random: Random): void {
    this.flying.forgetLost(now)
    this.drain(now)
    if (this.flying.count > 0) return
    const place = this.line.next(now)
    if (place === undefined || !this.probe.isDue(now, this.rate.perSecond(now), random)) return
    const { waiter } = place
    this.line.leave(place)
    this.fly(waiter, now)
    waiter.wake({ allowed: true, reason: 'probe', release: (outcome) => this.probeEnded(waiter, outcome) })
  }

  describe(): BudgetDescription {
    const { maxParkMs, maxParked, strict } = this
    return { type: 'adaptive', bulkhead: this.bulkhead !== undefined, strict, maxParkMs, maxParked }
  }

  snapshot(): AdaptiveBudgetState {
    const { waste, flying, floor, rate } = this
    const { count: used, patienceMs } = flying
    return { waste, used, patienceMs, latencies: floor.snapshot(), rate: rate.snapshot() }
  }

  /** Credit starts at none: what was fast before a restart says nothing about now. */
  restore(state: unknown): void {
    const {
      waste,
      used,
      latencies,
      rate,
      patienceMs = DEFAULT_PATIENCE_MS,
    } = (state ?? {}) as Partial<AdaptiveBudgetState>
    const tokens = expectNumber('adaptiveBudget snapshot waste', waste)
    const calls = new CallRate()
    const flying = new InFlight()
    const floor = new LatencyFloor()
    calls.restore(rate)
    flying.restore(used, calls.snapshot().atMs, expectNumber('adaptiveBudget snapshot patienceMs', patienceMs))
    floor.restore(latencies)
    // Nothing of it was refused: now all of it counts.
    this.waste = tokens
    this.rate = calls
    this.flying = flying
    this.floor = floor
    this.credit = 0
  }

  // ── ends ───────────────────────────────────────────────────────────────────────────────────────

  private ended(limits: Limits, outcome: AttemptOutcome, refund: number): void {
    const { now, latencyMs } = outcome
    this.flying.ended(now - latencyMs)
    if (outcome.result === 'success') {
      this.probe.succeeded()
      this.floor.add(latencyMs, now)
      this.addWaste(DEPOSIT + refund, now)
      this.addCredit(this.creditFor(latencyMs, limits.attemptTimeoutMs), now)
      const patienceMs = patienceOf(limits, now - latencyMs) ?? DEFAULT_PATIENCE_MS
      this.addAnswers(
        this.bulkhead?.answered(latencyMs / patienceMs, this.rate.perSecond(now), this.floor.ms) ?? 0,
        now,
      )
    } else if (outcome.result === 'timeout') {
      this.bulkhead?.missed(this.rate.perSecond(now), this.floor.ms)
    }
    this.drain(now)
  }

  /** What a success mints: one if it was fast. */
  protected creditFor(latencyMs: number, attemptTimeoutMs: number | undefined): number {
    const fastMs = this.fastMs(attemptTimeoutMs)
    return fastMs === undefined || latencyMs <= fastMs ? 1 : 0
  }

  /** The most that a fast answer takes; undefined if any is. */
  private fastMs(attemptTimeoutMs: number | undefined): number | undefined {
    const floorMs = this.floor.ms
    if (attemptTimeoutMs === undefined) return floorMs === undefined ? undefined : FAST_FLOORS * floorMs
    return Math.max(FAST_FLOORS * (floorMs ?? 0), FAST_TIMEOUT_SHARE * attemptTimeoutMs)
  }

  // ── what is there, and what is taken ───────────────────────────────────────────────────────────

  private hasSlot(now: number): boolean {
    const { bulkhead, flying, floor, rate } = this
    flying.forgetLost(now)
    return bulkhead === undefined || flying.count < bulkhead.slots(rate.perSecond(now), floor.ms)
  }

  private covers(cost: number, now: number): boolean {
    this.credit = this.strict && this.line.size === 0 ? 0 : Math.min(this.credit, this.maxCredit(now))
    this.waste = Math.min(this.waste, this.maxWaste(now))
    return this.credit >= 1 && this.waste >= cost
  }

  private launch(limits: Limits, cost: number, now: number): Decision {
    this.credit--
    this.waste -= cost
    return this.fly(limits, now)
  }

  private fly(limits: Limits, now: number): Decision {
    this.flying.started(now, patienceOf(limits, now) ?? DEFAULT_PATIENCE_MS)
    this.probe.attempted(now)
    return ALLOWED
  }

  private addCredit(amount: number, now: number): void {
    if (this.strict && this.line.size === 0) return
    this.credit = Math.min(this.credit + amount, this.maxCredit(now))
  }

  private addWaste(amount: number, now: number): void {
    this.waste = Math.min(this.waste + amount, this.maxWaste(now))
  }

  private maxCredit(now: number): number {
    return Math.max(1, CREDIT_SHARE * this.rate.perSecond(now))
  }

  private maxWaste(now: number): number {
    return Math.max(MIN_WASTE, DEPOSIT * WASTE_SECONDS * this.rate.perSecond(now))
  }

  /** A first attempt out of the line: the answer it followed goes on if nobody used it. */
  private endedFirst(limits: Limits, outcome: AttemptOutcome): void {
    if (isUnused(outcome)) this.answers++
    this.ended(limits, outcome, 0)
  }

  /** One that nobody used has told nothing: the next may go at once. */
  private probeEnded(limits: Limits, outcome: AttemptOutcome): void {
    if (isUnused(outcome)) this.probe.unused()
    this.ended(limits, outcome, 0)
  }

  /** A place in flight has come free, and as many more as the bulkhead was widened by. Nobody in line: nobody's. */
  private addAnswers(widened: number, now: number): void {
    this.answers = this.line.size === 0 ? 0 : Math.min(this.answers + 1 + widened, this.maxCredit(now) + widened)
  }

  private drain(now: number): void {
    for (;;) {
      const place = this.line.next(now)
      if (place === undefined || !this.hasSlot(now)) return
      const { waiter } = place
      if (waiter.cost === 0 ? this.answers < 1 : !this.covers(waiter.cost, now)) return
      this.line.leave(place)
      waiter.wake(waiter.cost === 0 ? this.followAnswer(waiter, now) : this.launch(waiter, waiter.cost, now))
    }
  }

  private followAnswer(waiter: Limits, now: number): Decision {
    this.answers--
    return { ...this.fly(waiter, now), release: (outcome) => this.endedFirst(waiter, outcome) }
  }
}

function isUnused({ result, latencyMs }: AttemptOutcome): boolean {
  return result === 'aborted' && latencyMs === 0
}

/** No cost is beyond what a client of any size may have. */
function wasteOf(request: BudgetRequest): number {
  return Math.min(costOf(request), MIN_WASTE)
}

function patienceOf({ attemptTimeoutMs, deadlineMs }: Limits, startMs: number): number | undefined {
  if (attemptTimeoutMs !== undefined) return attemptTimeoutMs
  return deadlineMs < Infinity ? Math.max(1, deadlineMs - startMs) : undefined
}

export function adaptiveBudget(options?: AdaptiveBudgetOptions): AdaptiveBudget {
  return new AdaptiveBudget(options)
}
