/**
 * What all calls of one executor share: the clock, chance, budgets, observers and the lines of parked attempts.
 * Imports core and the runtime's own small parts.
 * Times are those of `core/epoch-time.ts`, so executors that share a clock and a budget agree on them.
 */
import { isPromise, PROMISED } from '../core/answer.js'
import type { Breaker } from '../core/breaker.js'
import type { Budget } from '../core/budget.js'
import { epochOffsetMs } from '../core/epoch-time.js'
import type { Observer, RepriseEvent } from '../core/event.js'
import type { BudgetLookup, MissingBudgetMode } from '../core/gate.js'
import type { Clock, Draw, Random, Timer } from '../core/time.js'
import type { BreakerPhase } from '../core/words.js'
import { BudgetLine } from './budget-line.js'
import { report, reportLater } from './hook-errors.js'

export interface EnvironmentOptions {
  readonly clock: Clock
  readonly random: Random
  readonly budgets: BudgetLookup | undefined
  readonly missingBudgetMode: MissingBudgetMode
  readonly recoverHookErrors: boolean
  readonly observers: readonly Observer[]
}

/** Who a breaker's change is told of: the call whose attempt caused it. */
export interface Actor {
  readonly key: string
  readonly callId: number
  readonly attempt: number
  readonly attempts: number
}

/** The lines of executors with the same clock, since they may share budgets. */
const linesByClock = new WeakMap<Clock, WeakMap<Budget, BudgetLine>>()

function linesOf(clock: Clock): WeakMap<Budget, BudgetLine> {
  let lines = linesByClock.get(clock)
  if (lines === undefined) {
    lines = new WeakMap()
    linesByClock.set(clock, lines)
  }
  return lines
}

export class Environment {
  readonly clock: Clock
  readonly random: Random
  /** In the process a call draws as it goes: the numbers follow the generator, not the failure. */
  readonly draw: Draw
  readonly budgets: BudgetLookup | undefined
  readonly missingBudgetMode: MissingBudgetMode
  readonly recoverHookErrors: boolean
  observed: boolean
  /** The call whose attempt is being admitted or concluded, while somebody observes. */
  actor: Actor | undefined
  #observers: readonly Observer[]
  readonly #offsetMs: number
  #inStretch = false
  /** Whether `stretchMs` was read in the stretch that goes on. */
  #isFresh = false
  #stretchMs = 0
  readonly #lines: WeakMap<Budget, BudgetLine>
  /** Of the budget that was asked for last: most often the next call has the same. */
  #lastLine: BudgetLine | undefined = undefined

  constructor(options: EnvironmentOptions) {
    this.clock = options.clock
    this.random = options.random
    this.draw = () => {
      const chance = options.random()
      if (isPromise(chance)) throw new TypeError(`random ${PROMISED}`)
      return chance
    }
    this.budgets = options.budgets
    this.missingBudgetMode = options.missingBudgetMode
    this.recoverHookErrors = options.recoverHookErrors
    this.#observers = options.observers
    this.observed = options.observers.length > 0
    this.#offsetMs = epochOffsetMs(this.clock)
    this.#lines = linesOf(this.clock)
  }

  /** The time of this turn: for budgets and breakers. */
  nowMs(): number {
    const clock = this.clock
    return (clock.turnMs === undefined ? clock.monotonicMs() : clock.turnMs()) + this.#offsetMs
  }

  /** The time of this turn in whole milliseconds of the monotonic clock, rounded down; `msOf` gives the time it means. */
  turnTick(): number {
    const clock = this.clock
    return Math.floor(clock.turnMs === undefined ? clock.monotonicMs() : clock.turnMs())
  }

  msOf(tick: number): number {
    return tick + this.#offsetMs
  }

  /** The time of this moment: for limits, waits, observers and timelines that were asked for. */
  exactMs(): number {
    this.#stretchMs = this.clock.monotonicMs() + this.#offsetMs
    return this.#stretchMs
  }

  /** Within a stretch the time that was read in it last; outside of one the time of this moment. */
  stretchMs(): number {
    return this.#isFresh ? this.#stretchMs : this.#readStretch()
  }

  #readStretch(): number {
    this.#isFresh = this.#inStretch
    return this.exactMs()
  }

  /**
   * Work of this call begins that goes on without a pause: one reading of the clock serves all of it. Whoever else begins
   * one in between reads the clock anew, and so does all that follows its end.
   */
  beginStretch(): void {
    this.#inStretch = true
    this.#isFresh = false
  }

  endStretch(): void {
    this.#inStretch = false
    this.#isFresh = false
  }

  /** `Infinity` is never. */
  schedule(timer: Timer, atMs: number): void {
    if (atMs !== Infinity) this.clock.schedule(timer, atMs - this.#offsetMs)
  }

  /** Whether `scheduleIn` counts from the time of the turn: then the exact one need not be read. */
  get countsFromTurn(): boolean {
    return this.clock.scheduleIn !== undefined
  }

  scheduleIn(timer: Timer, delayMs: number): void {
    if (this.clock.scheduleIn !== undefined) this.clock.scheduleIn(timer, delayMs)
    else this.clock.schedule(timer, this.clock.monotonicMs() + delayMs)
  }

  cancel(timer: Timer): void {
    this.clock.cancel(timer)
  }

  /** Fires `timer` right after the running code, in the async context of now. */
  soon(timer: Timer): void {
    if (this.clock.soon === undefined) void Promise.resolve().then(() => timer.fire())
    else this.clock.soon(timer)
  }

  /** The line of attempts parked at a budget. */
  lineOf(budget: Budget): BudgetLine {
    if (this.#lastLine?.budget === budget) return this.#lastLine
    let line = this.#lines.get(budget)
    if (line === undefined) {
      line = new BudgetLine(this, budget)
      this.#lines.set(budget, line)
    }
    this.#lastLine = line
    return line
  }

  /**
   * Adds an observer; the answer removes it. For drivers that look at `observed` each time: the plans of an executor are
   * made for the observers that it began with.
   */
  observe(observer: Observer): () => void {
    this.#observers = [...this.#observers, observer]
    this.observed = true
    return () => {
      // One of them: it may have been added for another run too.
      const index = this.#observers.indexOf(observer)
      this.#observers = this.#observers.filter((_other, place) => place !== index)
      this.observed = this.#observers.length > 0
    }
  }

  /** A throwing observer never changes a result; its error reaches nobody but the host's own report. */
  emit(event: RepriseEvent): void {
    for (const observer of this.#observers) {
      try {
        reportLater(observer.onEvent(event))
      } catch (error) {
        report(error)
      }
    }
  }

  breakerChanged(breaker: Breaker, from: BreakerPhase, to: BreakerPhase): void {
    if (!this.observed) return
    const { key, callId, attempt, attempts } = this.actor ?? { key: breaker.key, callId: 0, attempt: 0, attempts: 0 }
    this.emit({
      type: 'breaker_changed',
      timeMs: this.stretchMs(),
      key,
      callId,
      attempt,
      attempts,
      breaker: breaker.key,
      from,
      to,
    })
  }
}
