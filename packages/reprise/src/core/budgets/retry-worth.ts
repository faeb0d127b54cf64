/**
 * What a retry is worth, from 0.01 to 1: how often retries help, compared with how often first attempts succeed, and
 * how few attempts are late. It tells random errors, where a retry succeeds as often as any attempt (worth 1), from a
 * part of the dependency that is down behind the same budget, where no retry helps (worth next to nothing).
 *
 * It falls at once and rises by about half of itself in one patience, so that calls that wait for a retry do not
 * all go when the first of them helped. It never falls to 0: the few retries that go all the same find out when retries help again.
 * Imports core only.
 */
import { LONG_TAIL, moved } from './evidence.js'
import { expectNumber } from './numbers.js'

/** From this share of the success of first attempts on, retries help fully. */
const HELPFUL = 0.6
const LEAST = 0.01
/** What it may rise by in one patience, as a share of itself. */
const RISE = 0.5

export interface RetryWorthState {
  readonly help: number
  readonly firsts: number
  readonly late: number
  readonly value: number
}

export class RetryWorth {
  value = 1
  /** Retries that helped since the last one that did not. */
  helpedInARow = 0
  /** Shares of retries and of first attempts that succeed, and of first attempts that are late. */
  private help = 1
  private firsts = 1
  private late = 0
  private atMs = -Infinity

  firstEnded(ok: boolean, isLate: boolean, now: number, patienceMs: number): void {
    // Most often all is well, and this changes nothing.
    if (ok && this.firsts === 1 && this.late === 0 && this.value === 1 && this.help >= HELPFUL) {
      this.atMs = Math.max(now, this.atMs)
      return
    }
    this.firsts = moved(this.firsts, ok)
    if (isLate || this.late > 0) this.late = moved(this.late, isLate)
    this.follow(now, patienceMs)
  }

  retryEnded(ok: boolean, now: number, patienceMs: number): void {
    this.help = moved(this.help, ok)
    this.helpedInARow = ok ? this.helpedInARow + 1 : 0
    this.follow(now, patienceMs)
  }

  snapshot(): RetryWorthState {
    const { help, firsts, late, value } = this
    return { help, firsts, late, value }
  }

  restore(state: unknown): void {
    const { help, firsts, late, value } = (state ?? {}) as Partial<RetryWorthState>
    const place = 'adaptiveBudget snapshot worth'
    const known = [help, firsts, late, value].map((share) => Math.min(1, expectNumber(place, share)))
    ;[this.help, this.firsts, this.late, this.value] = known as [number, number, number, number]
    this.value = Math.max(LEAST, this.value)
    this.atMs = -Infinity
    this.helpedInARow = 0
  }

  private follow(now: number, patienceMs: number): void {
    const needed = HELPFUL * this.firsts
    const helping = this.help >= needed ? 1 : this.help / needed
    const inTime = this.late === 0 ? 1 : Math.max(0, 1 - this.late / LONG_TAIL)
    const worth = (helping * inTime) ** 2
    this.value = Math.max(LEAST, worth <= this.value ? worth : Math.min(worth, this.grownTo(now, patienceMs)))
    this.atMs = Math.max(now, this.atMs)
  }

  /** A snapshot does not say how old it is, so the first event after a restart only starts the time. */
  private grownTo(now: number, patienceMs: number): number {
    const spentMs = this.atMs === -Infinity ? 0 : Math.max(0, now - this.atMs)
    return this.value * (1 + (RISE * spentMs) / patienceMs)
  }
}
