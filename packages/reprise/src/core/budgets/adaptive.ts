/**
 * The storm budget: transient failures are retried away, and an outage is not made worse.
 *
 * One principle: a first attempt goes out unless there is evidence that it would hurt; a retry goes out only while there
 * is evidence that it does not.
 *
 * - First attempts are held only while the window of attempts in flight is closed or silent (attempt-window.ts), and only
 *   with `bulkhead`. They wait in line, and go before all retries.
 * - A retry or hedge needs one *credit*, which a fast success mints and which is worth nothing one patience after the
 *   last one: as acks clock a sender, good answers let the next retry go. An outage mints none, however many calls fail.
 * - It also takes a *waste token*, and gets it back with a fast success. Each success deposits a fifth of a token times
 *   what retries are worth (retry-worth.ts), so retries that do not help soon end.
 * - While nothing else starts, one attempt in line goes as a *probe* now and then. It needs neither.
 *
 * Bounds: retries in any interval ≤ credit at its start + fast successes in it + probes; wasted retries ≤ tokens at its
 * start + a fifth of the successes + probes. O(1) per event. Memory: one place per waiting call, at most `maxParked`.
 * Pure over `now`. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { parseDuration } from '../duration.js'
import { ALLOWED, isFirstLaunch } from '../gate.js'
import { durationCheck, expectOptions, FLAG } from '../options.js'
import type { DurationInput } from '../policy.js'
import type { Random } from '../time.js'
import { AttemptWindow, type AttemptWindowState } from './attempt-window.js'
import { CallRate, type CallRateState } from './call-rate.js'
import { FAST_SHARE, FEW } from './evidence.js'
import { costOf, expectNumber, numberCheck } from './numbers.js'
import { RetryWorth, type RetryWorthState } from './retry-worth.js'
import { type Place, type Waiter, WaitingLine } from './waiting-line.js'

/** Options of `adaptiveBudget`. */
export interface AdaptiveBudgetOptions {
  /**
   * Whether first attempts are held back too, while more of them would hurt.
   * @default false
   * @example { bulkhead: true }
   */
  readonly bulkhead?: boolean | undefined
  /**
   * Whether no credit is kept while no retry waits for it: then the first second of an outage sees no retry at all.
   * @default false
   * @example { strict: true }
   */
  readonly strict?: boolean | undefined
  /** The longest stay in line, for calls without a deadline. @default '30s' @example { maxPark: '10s' } */
  readonly maxPark?: DurationInput | undefined
  /**
   * Places in line. An attempt that finds all of them taken is denied. A whole number of 0 or more.
   * @default 100_000
   * @example { maxParked: 1000 }
   */
  readonly maxParked?: number | undefined
}

export interface AdaptiveBudgetState {
  readonly waste: number
  /** Attempts in flight: what takes over from a dead process concludes them. */
  readonly used: number
  readonly rate: CallRateState
  readonly window: AttemptWindowState
  readonly worth: RetryWorthState
}

/** The reasons it gives beside those of every budget. */
export const ADAPTIVE_REASONS = ['no_credit', 'no_slot', 'line_full', 'probe'] as const
type AdaptiveReason = (typeof ADAPTIVE_REASONS)[number]

/** Tokens that a success deposits, and so the share of attempts that may be waste. */
const DEPOSIT = 0.2
/** Tokens that may be kept: what this many seconds of calls deposit. */
const WASTE_SECONDS = 10
/** Share of the usual load that does not hurt: credit that may be kept, of a second's calls, and probes. */
const HARMLESS = 0.1
/** Tokens before anything is known. With one, a program whose first call needs two retries has none left for the next call. */
const FIRST_TOKENS = 2
/** A client with fewer calls a second than this keeps up to a few credits for retries in a row that helped. */
const FEW_CALLS = 1
/** Jitter of probes: from half the interval to one and a half, so that many clients do not probe together. */
const LEAST_JITTER = 0.5
/** The patience of a caller that gives no time limit. A client without a call for as long knows no more than a new one. */
const LONG_MS = 30_000

const denied = (reason: AdaptiveReason): Decision => Object.freeze({ allowed: false, reason })
const NO_CREDIT = denied('no_credit')
const NO_SLOT = denied('no_slot')
const LINE_FULL = denied('line_full')
const PROBE: Decision = Object.freeze({ allowed: true, reason: 'probe' satisfies AdaptiveReason })

/** A budget that learns from outcomes how many retries a dependency can take. */
export class AdaptiveBudget implements Budget {
  /** The option `maxPark`, in milliseconds. */
  readonly maxParkMs: number
  private readonly bulkhead: boolean
  private readonly strict: boolean
  private readonly maxParked: number
  private rate = new CallRate()
  private window = new AttemptWindow()
  private worth = new RetryWorth()
  private readonly firsts = new WaitingLine()
  private readonly retries = new WaitingLine()
  private waste = FIRST_TOKENS
  /** One retry before anything is known, so that a program with a single call has one at once. */
  private credit = 1
  private lastFastMs = Infinity
  private probeJitter = 1
  /** Since the last success. */
  private probes = 0
  /** The request of the last probe, which paid nothing and gets nothing back. */
  private probed: BudgetRequest | undefined = undefined
  /** Of the caller that asked last. */
  private patienceMs = LONG_MS

  constructor(options: AdaptiveBudgetOptions = {}) {
    expectOptions('adaptiveBudget', options, {
      bulkhead: FLAG,
      strict: FLAG,
      maxPark: durationCheck("a duration such as '30s'"),
      maxParked: numberCheck(10_000, 'a whole number of 0 or more'),
    })
    const { bulkhead = false, strict = false, maxPark = '30s', maxParked = 100_000 } = options
    this.maxParkMs = parseDuration(maxPark)
    this.maxParked = maxParked
    this.strict = strict
    this.bulkhead = bulkhead
  }

  /** Attempts in flight. */
  get inFlight(): number {
    return this.window.inFlight
  }

  /** Attempts in line. */
  get parked(): number {
    return this.firsts.size + this.retries.size
  }

  allowAttempt(request: BudgetRequest): Decision {
    const { now } = request
    this.patienceMs = patienceOf(request, now)
    this.window.patienceMs = this.patienceMs
    if (isFirstLaunch(request)) return this.allowFirst(request, now)
    const cost = costOf(request)
    if (this.parked > 0 || !this.covers(cost, now)) return NO_CREDIT
    return this.window.hasRoom(now, this.patienceMs) ? this.startPaid(cost, now) : NO_SLOT
  }

  conclude(request: BudgetRequest, outcome: AttemptOutcome): void {
    const { result, now, latencyMs } = outcome
    if (isUnused(outcome)) this.takeBack(request, now)
    else if (result === 'success' || result === 'failure') {
      const share = latencyMs / patienceOf(request, now - latencyMs)
      this.window.answered(result === 'success', share, latencyMs, now, this.firsts.size > 0)
      this.learn(request, result === 'success', false, now)
      if (result === 'success') this.deposit(request, outcome, share <= FAST_SHARE)
    } else if (result === 'timeout') {
      this.window.missed(latencyMs, now, this.firsts.size > 0)
      this.learn(request, false, true, now)
    } else this.window.ended()
    if (request === this.probed) this.probed = undefined
    if (this.parked > 0) this.drain(now)
  }

  park(request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    if (this.parked >= this.maxParked) {
      wake(LINE_FULL)
      return () => undefined
    }
    const { now, deadlineMs } = request
    const isFirst = isFirstLaunch(request)
    // Credit that was minted while no retry waited is not for this one.
    if (this.strict && this.retries.size === 0) this.credit = 0
    const line = isFirst ? this.firsts : this.retries
    const cost = isFirst ? 0 : costOf(request)
    // Others may have asked since this one did.
    const patienceMs = patienceOf(request, now)
    const place = line.join({ request, cost, joinedMs: now, deadlineMs, patienceMs, wake })
    this.drain(now)
    return () => line.leave(place)
  }

  wakeAtMs(): number {
    return this.parked === 0 ? Infinity : this.probeAtMs()
  }

  poll(now: number, random: Random): void {
    this.drain(now)
    const line = this.nextOf(this.firsts, now) === undefined ? this.retries : this.firsts
    const place = this.nextOf(line, now)
    if (place === undefined || now < this.probeAtMs()) return
    this.probeJitter = LEAST_JITTER + random()
    this.probes++
    line.leave(place)
    this.window.started(now)
    this.probed = place.waiter.request
    place.waiter.wake(PROBE)
  }

  describe(): BudgetDescription {
    const { maxParkMs, maxParked, strict, bulkhead } = this
    return { type: 'adaptive', bulkhead, strict, maxParkMs, maxParked }
  }

  snapshot(): AdaptiveBudgetState {
    const { waste, rate, window, worth } = this
    return { waste, used: window.inFlight, rate: rate.snapshot(), window: window.snapshot(), worth: worth.snapshot() }
  }

  /** Credit starts at none: what was fast before a restart says nothing about now. */
  restore(state: unknown): void {
    const given = (state ?? {}) as Partial<AdaptiveBudgetState>
    const waste = expectNumber('adaptiveBudget snapshot waste', given.waste)
    const used = expectNumber('adaptiveBudget snapshot used', given.used ?? 0, 'a whole number of 0 or more')
    const rate = new CallRate()
    const window = new AttemptWindow()
    const worth = new RetryWorth()
    rate.restore(given.rate)
    window.restore(given.window)
    worth.restore(given.worth)
    // All of it could be read: now it counts.
    this.waste = waste
    this.rate = rate
    this.window = window
    this.window.inFlight = used
    this.worth = worth
    this.credit = 0
  }

  // ── what may start ─────────────────────────────────────────────────────────────────────────────

  private allowFirst(request: BudgetRequest, now: number): Decision {
    this.rate.count(now)
    const idleMs = now - this.window.lastStartMs
    if (idleMs >= LONG_MS && idleMs < Infinity) this.startAnew()
    if (!this.bulkhead) return this.start(now)
    if (this.firsts.size === 0 && this.window.hasRoom(now, this.patienceMs)) return this.start(now)
    // A probe that is due need not stand in line first; and where nothing can park, no other probe would ever go.
    const isProbe = this.parked === 0 && now >= this.probeAtMs({ deadlineMs: request.deadlineMs, joinedMs: now })
    return isProbe ? this.start(now) : NO_SLOT
  }

  /** What was known is old. As at the start, one retry may go before anything is known. */
  private startAnew(): void {
    if (!this.strict) this.credit = Math.max(1, this.credit)
    this.lastFastMs = Infinity
    this.window.startAnew()
  }

  private covers(cost: number, now: number): boolean {
    this.limitStock(now)
    return this.credit >= 1 && this.waste >= this.tokensFor(cost, now)
  }

  private startPaid(cost: number, now: number): Decision {
    this.credit--
    this.waste -= this.tokensFor(cost, now)
    return this.start(now)
  }

  private start(now: number): Decision {
    this.window.started(now)
    return ALLOWED
  }

  private drain(now: number): void {
    for (let place = this.nextOf(this.firsts, now); place !== undefined; place = this.nextOf(this.firsts, now)) {
      if (!this.window.hasRoom(now, this.patienceMs)) return
      this.firsts.leave(place)
      place.waiter.wake(this.start(now))
    }
    for (let place = this.nextOf(this.retries, now); place !== undefined; place = this.nextOf(this.retries, now)) {
      const { cost } = place.waiter
      if (!this.covers(cost, now) || !this.window.hasRoom(now, this.patienceMs)) return
      this.retries.leave(place)
      place.waiter.wake(this.startPaid(cost, now))
    }
  }

  private nextOf(line: WaitingLine, now: number): Place | undefined {
    return line.next(now, this.window.answerMs)
  }

  /**
   * A retry waits until no call of its client would tell as much. First attempts in line are probed for after one patience
   * at first, since what looks like an outage to a client with few calls is often chance, and always in time to help them.
   */
  private probeAtMs(first: Pick<Waiter, 'deadlineMs' | 'joinedMs'> | undefined = this.firsts.peek()?.waiter): number {
    const { patienceMs } = this
    const { latest } = this.rate
    const usualMs = latest === 0 ? patienceMs : Math.max(patienceMs, 1000 / (HARMLESS * latest))
    const growingMs = first === undefined ? Infinity : patienceMs * 2 ** this.probes
    const spareMs = first === undefined ? Infinity : (first.deadlineMs - first.joinedMs - patienceMs) / 2
    const intervalMs = Math.min(usualMs, growingMs, Math.max(patienceMs, spareMs))
    return this.window.lastStartMs + intervalMs * this.probeJitter
  }

  // ── what comes back ────────────────────────────────────────────────────────────────────────────

  private learn(request: BudgetRequest, ok: boolean, isLate: boolean, now: number): void {
    if (isFirstLaunch(request)) this.worth.firstEnded(ok, isLate, now, this.patienceMs)
    else if (request.kind === 'retry') {
      this.worth.retryEnded(ok, now, this.patienceMs)
      this.limitStock(now)
    }
  }

  private deposit(request: BudgetRequest, { now, won }: AttemptOutcome, isFast: boolean): void {
    this.waste += DEPOSIT * this.worth.value
    this.probes = 0
    if (!isFast) return
    const hasHelped = !isFirstLaunch(request) && (request.kind === 'retry' || won)
    if (hasHelped && request !== this.probed) this.waste += this.tokensFor(costOf(request), now)
    this.lastFastMs = now
    this.credit++
  }

  /** A grant that was not used: what it took goes to the next. */
  private takeBack(request: BudgetRequest, now: number): void {
    if (request === this.probed) {
      // It has told nothing, so the next may go at once.
      this.window.lastStartMs = -Infinity
    } else if (!isFirstLaunch(request)) {
      this.waste += this.tokensFor(costOf(request), now)
      this.credit++
    }
    this.window.ended()
  }

  private limitStock(now: number): void {
    this.credit = Math.min(this.credit, this.mostCredit(now))
    this.waste = Math.min(this.waste, this.mostWaste(now))
  }

  private mostCredit(now: number): number {
    if (this.strict && this.retries.size === 0) return 0
    const callsPerSecond = this.rate.perSecond(now)
    const proven = callsPerSecond < FEW_CALLS ? Math.min(this.worth.helpedInARow, FEW) : 0
    const isFresh = now - this.lastFastMs <= this.patienceMs
    return isFresh ? Math.max(1, HARMLESS * callsPerSecond, proven) : proven
  }

  /** Never less than one: what is worth little is tried seldom, not never. */
  private mostWaste(now: number): number {
    const most = Math.max(FEW, DEPOSIT * WASTE_SECONDS * this.rate.perSecond(now))
    return Math.max(1, this.worth.value * most)
  }

  /** No cost is beyond what may be kept. */
  private tokensFor(cost: number, now: number): number {
    return cost === 1 ? 1 : Math.min(cost, this.mostWaste(now))
  }
}

function isUnused({ result, latencyMs }: AttemptOutcome): boolean {
  return result === 'aborted' && latencyMs === 0
}

/** How long the caller of an attempt that starts at this time waits for it. Reading the deadline may read a clock. */
function patienceOf(request: BudgetRequest, startMs: number): number {
  const { attemptTimeoutMs } = request
  if (attemptTimeoutMs !== undefined) return attemptTimeoutMs
  const { deadlineMs } = request
  return deadlineMs < Infinity ? Math.max(1, deadlineMs - startMs) : LONG_MS
}

/**
 * Makes a budget that lets transient failures be retried, and keeps an outage from being made worse. It needs no rates:
 * it learns from outcomes. Attempts may wait in line. Throws an `OptionsError` for wrong options.
 * @example
 * const api = createExecutor({
 *   budgets: { api: perKey(() => adaptiveBudget({ bulkhead: true })) },
 *   defaultPolicy: { attempts: 8, timeout: '10s', budget: 'api' },
 * })
 */
export function adaptiveBudget(options?: AdaptiveBudgetOptions): AdaptiveBudget {
  return new AdaptiveBudget(options)
}
