/**
 * What the answers of a dependency usually take: whether most are fast, and which share of the attempts is not fast, not in
 * good time, or late. Slow ones are learned from while no call is held, so that a queue of the callers' own making is not
 * taken for usual; only the very first answers count in any case.
 *
 * From the shares follows what is chance. A few attempts in a row without a fast answer, or without any, tell nothing
 * about a dependency where that happens by itself now and then.
 *
 * A dependency whose first answers come after a silence is assumed to be fast, since they come out of the queue of an
 * outage. The assumption is corrected also while calls are held: by answers that are slow and yet come in good time, since
 * in a queue that holds calls back most take longer; and after a silence in which no attempt was late by any slow answers
 * without a late one, since such a silence may have been the time that the first answers took. Imports core only.
 */
import { FEW, LEAST_CHANCE, LONG_TAIL, MEMORY } from './evidence.js'
import { expectNumber } from './numbers.js'

export interface UsualAnswersState {
  /** Of the successes. */
  readonly fastShare: number
  /** Of the attempts, successes and late ones. */
  readonly notFast: number
  readonly notPrompt: number
  readonly late: number
  readonly spells: number
}

/** Attempts of one patience, and what became of them. */
interface Spell {
  fast: number
  prompt: number
  successes: number
  late: number
  hasHeld: boolean
}

const newSpell = (): Spell => ({ fast: 0, prompt: 0, successes: 0, late: 0, hasHeld: false })

export class UsualAnswers {
  private fastShare = 1
  private notFast = 0
  private notPrompt = 0
  private late = 0
  /** Patiences that were counted; 0 while nothing is known. */
  private spells = 0
  /** Nothing is known but that the first answers came after a silence, and whether attempts were late in it. */
  private assumed: 'after_late' | 'after_none_late' | undefined = undefined
  private spell = newSpell()
  private spellMs = -Infinity

  get areFast(): boolean {
    return this.spells > 0 && this.fastShare >= 0.5
  }

  get areSlow(): boolean {
    return this.fastShare < 0.5
  }

  /** From 1, where no attempt is usually late, to 0, where so many are that one more says nothing. */
  get surpriseOfLate(): number {
    return Math.max(0, 1 - this.late / LONG_TAIL)
  }

  /** The first answers after a silence come out of a queue: a dependency not seen before is not slow because of them. */
  assumeFast(lateOnes: number): void {
    if (this.spells > 0) return
    this.spells = FEW
    this.assumed = lateOnes > 0 ? 'after_late' : 'after_none_late'
  }

  /** Whether it may be chance that so many attempts in a row had no fast answer. */
  explainsNoneFast(attempts: number): boolean {
    return this.notFast ** attempts > LEAST_CHANCE
  }

  /** Whether it may be chance that these were late, and those that wait have no answer after half of their patience. */
  explainsSilence(late: number, waiting: number): boolean {
    return this.late ** late * this.notPrompt ** waiting > LEAST_CHANCE
  }

  /** A success; prompt: in good time, fast or not. */
  add(isFast: boolean, isPrompt: boolean, isHolding: boolean, now: number, patienceMs: number): void {
    const { spell } = this
    spell.successes++
    if (isFast) spell.fast++
    if (isPrompt) spell.prompt++
    if (isHolding) spell.hasHeld = true
    const isOver = this.spells === 0 ? spell.successes >= MEMORY : now - this.spellMs >= patienceMs
    if (isOver) this.endSpell(now)
  }

  addLate(isHolding: boolean): void {
    this.spell.late++
    if (isHolding) this.spell.hasHeld = true
  }

  /** An assumption is nothing that is known. */
  snapshot(): UsualAnswersState {
    const { fastShare, notFast, notPrompt, late, spells } = this
    if (this.assumed !== undefined) return { fastShare: 1, notFast: 0, notPrompt: 0, late: 0, spells: 0 }
    return { fastShare, notFast, notPrompt, late, spells }
  }

  restore(state: unknown): void {
    const given = (state ?? {}) as Partial<UsualAnswersState>
    const place = 'adaptiveBudget snapshot window'
    const shareOf = (value: unknown): number => Math.min(1, expectNumber(place, value))
    const spells = expectNumber(place, given.spells, 'a whole number of 0 or more')
    const shares = [given.fastShare, given.notFast ?? 0, given.notPrompt ?? 0, given.late ?? 0].map(shareOf)
    ;[this.fastShare, this.notFast, this.notPrompt, this.late] = shares as [number, number, number, number]
    this.spells = Math.min(spells, MEMORY)
    this.assumed = undefined
  }

  private endSpell(now: number): void {
    const { spell } = this
    const share = spell.fast / spell.successes
    if (this.counts(spell, share)) this.learn(spell, share)
    if (share > 0.5 || this.areSlow) this.assumed = undefined
    this.spell = newSpell()
    this.spellMs = now
  }

  private learn({ fast, prompt, successes, late }: Spell, fastShare: number): void {
    this.spells = Math.min(this.spells + 1, MEMORY)
    const attempts = successes + late
    this.fastShare += (fastShare - this.fastShare) / this.spells
    this.notFast += (1 - fast / attempts - this.notFast) / this.spells
    this.notPrompt += (1 - prompt / attempts - this.notPrompt) / this.spells
    this.late += (late / attempts - this.late) / this.spells
  }

  private counts({ prompt, successes, late, hasHeld }: Spell, fastShare: number): boolean {
    if (!hasHeld || this.spells === 0 || fastShare > 0.5) return true
    if (this.assumed === undefined) return false
    return prompt > 0.5 * successes || (this.assumed === 'after_none_late' && late === 0)
  }
}
