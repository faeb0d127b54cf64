/**
 * Whether the answers of a dependency are usually fast. Slow ones are learned from while no call is held, so that a queue
 * of the callers' own making is not taken for usual; only the very first answers count in any case. Imports core only.
 */
import { expectNumber } from './numbers.js'

/** Fewer answers than this are chance. */
const MIN_ANSWERS = 5
/** Patiences of which it is remembered whether fast answers were usual. */
const MEMORY = 16

export interface UsualAnswersState {
  readonly fastShare: number
  readonly spells: number
}

export class UsualAnswers {
  private fastShare = 1
  /** Patiences that were counted; 0 while nothing is known. */
  private spells = 0
  private fast = 0
  private total = 0
  private hasHeld = false
  private spellMs = -Infinity

  get areFast(): boolean {
    return this.spells > 0 && this.fastShare >= 0.5
  }

  get areSlow(): boolean {
    return this.fastShare < 0.5
  }

  /** The first answers after an outage come out of a long queue: a dependency not seen before is not slow because of them. */
  assumeFast(): void {
    this.spells = Math.max(1, this.spells)
  }

  add(isFast: boolean, isHolding: boolean, now: number, patienceMs: number): void {
    this.total++
    if (isFast) this.fast++
    if (isHolding) this.hasHeld = true
    const isOver = this.spells === 0 ? this.total >= MIN_ANSWERS : now - this.spellMs >= patienceMs
    if (isOver) this.endSpell(now)
  }

  snapshot(): UsualAnswersState {
    const { fastShare, spells } = this
    return { fastShare, spells }
  }

  restore(state: unknown): void {
    const { fastShare, spells } = (state ?? {}) as Partial<UsualAnswersState>
    const place = 'adaptiveBudget snapshot window'
    const known = Math.min(1, expectNumber(place, fastShare))
    this.spells = Math.min(expectNumber(place, spells, 'a whole number of 0 or more'), MEMORY)
    this.fastShare = known
  }

  private endSpell(now: number): void {
    const share = this.fast / this.total
    if (!this.hasHeld || this.spells === 0 || share > 0.5) {
      this.spells = Math.min(this.spells + 1, MEMORY)
      this.fastShare += (share - this.fastShare) / this.spells
    }
    this.fast = 0
    this.total = 0
    this.hasHeld = false
    this.spellMs = now
  }
}
