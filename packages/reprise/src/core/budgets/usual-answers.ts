/**
 * Whether the answers of a dependency are usually fast. Slow ones are learned from while no call is held, so that a queue
 * of the callers' own making is not taken for usual; only the very first answers count in any case.
 *
 * A dependency whose first answers come after a silence is assumed to be fast, since they come out of the queue of an
 * outage. The assumption is corrected also while calls are held, by answers that are slow and yet come in good time: in
 * a queue that holds calls back most take longer. Imports core only.
 */
import { expectNumber } from './numbers.js'

/** Fewer answers than this are chance. */
const MIN_ANSWERS = 5
/** Patiences of which it is remembered whether fast answers were usual. */
const MEMORY = 16
/** Patiences that an assumption counts as. */
const ASSUMED = 4

export interface UsualAnswersState {
  readonly fastShare: number
  readonly spells: number
}

export class UsualAnswers {
  private fastShare = 1
  /** Patiences that were counted; 0 while nothing is known. */
  private spells = 0
  /** Nothing is known but that the first answers came after a silence. */
  private isAssumed = false
  private fast = 0
  private prompt = 0
  private total = 0
  private hasHeld = false
  private spellMs = -Infinity

  get areFast(): boolean {
    return this.spells > 0 && this.fastShare >= 0.5
  }

  get areSlow(): boolean {
    return this.fastShare < 0.5
  }

  /** The first answers after a silence come out of a queue: a dependency not seen before is not slow because of them. */
  assumeFast(): void {
    if (this.spells > 0) return
    this.spells = ASSUMED
    this.isAssumed = true
  }

  /** A success; prompt: in good time, fast or not. */
  add(isFast: boolean, isPrompt: boolean, isHolding: boolean, now: number, patienceMs: number): void {
    this.total++
    if (isFast) this.fast++
    if (isPrompt) this.prompt++
    if (isHolding) this.hasHeld = true
    const isOver = this.spells === 0 ? this.total >= MIN_ANSWERS : now - this.spellMs >= patienceMs
    if (isOver) this.endSpell(now)
  }

  /** An assumption is nothing that is known. */
  snapshot(): UsualAnswersState {
    const { fastShare, spells } = this
    return this.isAssumed ? { fastShare: 1, spells: 0 } : { fastShare, spells }
  }

  restore(state: unknown): void {
    const { fastShare, spells } = (state ?? {}) as Partial<UsualAnswersState>
    const place = 'adaptiveBudget snapshot window'
    const known = Math.min(1, expectNumber(place, fastShare))
    this.spells = Math.min(expectNumber(place, spells, 'a whole number of 0 or more'), MEMORY)
    this.fastShare = known
    this.isAssumed = false
  }

  private endSpell(now: number): void {
    const share = this.fast / this.total
    if (this.countsSpell(share)) {
      this.spells = Math.min(this.spells + 1, MEMORY)
      this.fastShare += (share - this.fastShare) / this.spells
    }
    if (share > 0.5 || this.areSlow) this.isAssumed = false
    this.fast = 0
    this.prompt = 0
    this.total = 0
    this.hasHeld = false
    this.spellMs = now
  }

  private countsSpell(fastShare: number): boolean {
    if (!this.hasHeld || this.spells === 0 || fastShare > 0.5) return true
    return this.isAssumed && this.prompt > 0.5 * this.total
  }
}
