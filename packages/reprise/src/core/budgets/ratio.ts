/**
 * Retries as a share of the calls made: each first attempt deposits `ratio`, each retry or hedge withdraws its cost.
 * A reserve of `minPerSecond` keeps clients with few calls able to retry.
 *
 * Invariants: within a window, withdrawals ≤ reserve + deposits at each withdrawal. The window is the running tenth of
 * `window` and the nine before it, so memory and time per ask are constant. First attempts are counted, not added up,
 * so many small deposits do not lose anything to rounding. A clock that goes back stays in the latest tenth. A peek
 * writes nothing, also one about a time to come. Imports core only.
 */
import type { Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { parseDuration } from '../duration.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../gate.js'
import { durationCheck, expectOptions } from '../options.js'
import type { DurationInput } from '../policy.js'
import { costOf, expectList, expectNumber, numberCheck } from './numbers.js'

/** Options of `ratioBudget`. */
export interface RatioBudgetOptions {
  /**
   * What a first attempt deposits: 0.1 lets one call in ten be repeated. 0 or more.
   * @default 0.1
   * @example { ratio: 0.2 }
   */
  readonly ratio?: number | undefined
  /**
   * Withdrawals per second, on the window's average, that need no deposit. 0 or more.
   * @default 1
   * @example { minPerSecond: 5 }
   */
  readonly minPerSecond?: number | undefined
  /** How long a deposit can be used, and a withdrawal counts: above 0 ms. @default '10s' @example { window: '30s' } */
  readonly window?: DurationInput | undefined
}

/** One slot of the window: a time within it, the first attempts and the withdrawals seen in it. */
type RatioSlotState = readonly [atMs: number, firsts: number, withdrawn: number]

export interface RatioBudgetState {
  readonly slots: readonly RatioSlotState[]
}

interface Slot {
  readonly index: number
  firsts: number
  withdrawn: number
}

const SLOTS = 10

/** A budget that allows retries as a share of the calls. */
export class RatioBudget implements Budget {
  private readonly ratio: number
  private readonly reserve: number
  private readonly slotMs: number
  /** Oldest first; at most `SLOTS`, and those without any event are left out. */
  private slots: readonly Slot[] = []

  constructor(options: RatioBudgetOptions = {}) {
    expectOptions('ratioBudget', options, {
      ratio: numberCheck(0.1),
      minPerSecond: numberCheck(1),
      window: durationCheck("a duration above 0ms such as '10s'", Number.MIN_VALUE),
    })
    const { ratio = 0.1, minPerSecond = 1, window = '10s' } = options
    const windowMs = parseDuration(window)
    this.ratio = ratio
    this.reserve = (minPerSecond * windowMs) / 1000
    this.slotMs = windowMs / SLOTS
  }

  allowAttempt(request: BudgetRequest): Decision {
    const index = this.indexAt(request.now)
    if (isFirstLaunch(request)) {
      this.slotOf(index).firsts++
      return ALLOWED
    }
    const cost = costOf(request)
    if (!this.covers(cost, index)) return DENIED
    this.slotOf(index).withdrawn += cost
    return ALLOWED
  }

  peek(request: BudgetRequest): boolean {
    return isFirstLaunch(request) || this.covers(costOf(request), this.indexAt(request.now))
  }

  /** When so many withdrawals have left the window that there is room, without further deposits. */
  nextAllowedAtMs(request: BudgetRequest): number {
    if (this.peek(request)) return request.now
    const cost = costOf(request)
    const left = this.slots.map(({ index }) => index + SLOTS).find((index) => this.covers(cost, index))
    return left === undefined ? Infinity : left * this.slotMs
  }

  describe(): BudgetDescription {
    const { ratio, reserve, slotMs } = this
    return { type: 'ratio', ratio, reserve, windowMs: slotMs * SLOTS }
  }

  /** Each slot is named by its middle: dividing that gives the slot again whatever the rounding. */
  snapshot(): RatioBudgetState {
    return { slots: this.slots.map((slot) => [(slot.index + 0.5) * this.slotMs, slot.firsts, slot.withdrawn]) }
  }

  restore(state: unknown): void {
    const { slots } = (state ?? {}) as Partial<RatioBudgetState>
    const read = expectList('ratioBudget snapshot slots', slots).map(readSlot)
    this.slots = []
    for (const [atMs, firsts, withdrawn] of read) {
      const slot = this.slotOf(this.indexAt(atMs))
      slot.firsts += firsts
      slot.withdrawn += withdrawn
    }
  }

  private indexAt(now: number): number {
    return Math.max(Math.floor(now / this.slotMs), this.slots.at(-1)?.index ?? -Infinity)
  }

  private slotOf(index: number): Slot {
    const latest = this.slots.at(-1)
    if (latest?.index === index) return latest
    const slot = { index, firsts: 0, withdrawn: 0 }
    this.slots = [...this.slots.filter((old) => old.index > index - SLOTS), slot]
    return slot
  }

  private covers(cost: number, index: number): boolean {
    let firsts = 0
    let withdrawn = cost
    for (const slot of this.slots) {
      if (slot.index <= index - SLOTS) continue
      firsts += slot.firsts
      withdrawn += slot.withdrawn
    }
    return withdrawn <= this.reserve + firsts * this.ratio
  }
}

function readSlot(slot: unknown): RatioSlotState {
  const place = 'ratioBudget snapshot slot'
  const [atMs, firsts, withdrawn] = expectList(place, slot)
  return [expectNumber(place, atMs, 'a finite number'), expectNumber(place, firsts), expectNumber(place, withdrawn)]
}

/**
 * Makes a budget that allows retries as a share of the calls, with a small reserve. First attempts are free. Throws an
 * `OptionsError` for wrong options.
 * @example
 * const api = createExecutor({ budgets: { api: ratioBudget({ ratio: 0.2 }) }, defaultPolicy: { budget: 'api' } })
 */
export function ratioBudget(options?: RatioBudgetOptions): RatioBudget {
  return new RatioBudget(options)
}
