/**
 * How many attempts may be in flight: as many as callers want, unless answers say that more would hurt.
 *
 * The yardstick is the caller's patience, the time it waits for an answer. An answer is *fast* within a quarter of it and
 * *late* if it does not come within it. Four rules, by what the answers look like:
 *
 * - No fast answer for a quarter of the patience, where fast answers are usual, from more attempts than chance explains
 *   (usual-answers.ts): the window closes around what is in flight and the attempt that asks, so that a queue at the
 *   dependency does not become longer.
 * - A closed window widens while calls are held: with every fast answer, and with slow ones until most of a round take
 *   longer than when it closed. Then the window is cut, and waits for a round that is not slower before it widens again.
 * - No answer at all for half the patience, from more attempts than chance explains (usual-answers.ts, and partial-loss.ts
 *   where a part of the dependency is away): nothing starts but probes.
 *   If the silence outlasts the patience, the window opens again at half of what was in flight.
 * - A fast answer while no call is held removes the limit.
 *
 * Where fast answers are not usual, slow ones are no sign of trouble: only silence is. O(1) per event. Imports core only.
 */
import { AnswerGap } from './answer-gap.js'
import { FAST_SHARE, FEW, MEMORY } from './evidence.js'
import { PartialLoss } from './partial-loss.js'
import { UsualAnswers, type UsualAnswersState } from './usual-answers.js'

/** Share of the patience without any answer that means trouble. Dependencies with slow answers get a whole one. */
const QUIET_SHARE = 0.5
/** An answer is slower if it takes this many times what answers took when the window closed. Then the window is cut by as much. */
const SLOWER = 1.5
/** More than this part of a round must be slower to show a queue. A healthy dependency with a long tail has fewer slow answers. */
const MAJORITY = 0.75
/** Room beyond what is in flight when the window closes: a client with few calls would otherwise close around next to nothing. */
const SPARE = 1.5
/** Part of the window that a late attempt takes where slow answers are usual: nothing else stops the growth of such a window. */
const SLOW_CUT = 0.04
/** By how much of an attempt an answer widens the window; more was seen to overshoot in a brown-out. */
const GROWTH = 0.25

export type AttemptWindowState = UsualAnswersState

export class AttemptWindow {
  inFlight = 0
  /** Nothing may start but probes. */
  silent = false
  lastStartMs = -Infinity
  /** Of the caller that asked last. */
  patienceMs = 0
  /** What a successful answer takes now: a mean in which the last ones count most. */
  answerMs = 0
  private limit = Infinity
  /** Without any answer, and without a fast one. */
  private readonly quiet = new AnswerGap()
  private readonly slow = new AnswerGap()
  private inFlightBeforeSilence = 0
  /** Of the closed window: most keys never need one. */
  private round: Round | undefined = undefined
  private readonly usual = new UsualAnswers()
  private readonly loss = new PartialLoss()

  started(now: number): void {
    this.inFlight++
    this.lastStartMs = now
    this.quiet.started(now)
    this.slow.started(now)
  }

  /** An attempt ended without telling anything about the dependency. */
  ended(): void {
    this.leave()
    if (this.inFlight === 0 && !this.silent) this.quiet.end()
  }

  /** Whether an attempt may start. */
  hasRoom(now: number, patienceMs: number): boolean {
    this.patienceMs = patienceMs
    if (!this.silent && this.isSilence(now)) {
      this.silent = true
      this.inFlightBeforeSilence = Math.min(this.inFlight, this.limit)
    }
    if (this.silent) return false
    if (this.limit === Infinity && this.usual.areFast && this.isSlow(now)) this.close(this.inFlight + SPARE)
    return this.inFlight + 1 <= this.limit
  }

  /** The dependency answered after this share of the patience. A failure says that it is there, not that it is well. */
  answered(ok: boolean, share: number, latencyMs: number, now: number, isHolding: boolean): void {
    this.leave()
    if (this.silent && !ok) return
    const isFast = ok && share <= FAST_SHARE
    const isPrompt = ok && share <= QUIET_SHARE
    this.loss.answered(isPrompt, now - latencyMs)
    if (this.silent) this.endSilence(now)
    this.quiet.beginAgain(now, this.inFlight)
    if (isFast || this.inFlight === 0) this.slow.beginAgain(now, this.inFlight)
    else this.slow.ended++
    if (!ok) return
    this.answerMs += (latencyMs - this.answerMs) / MEMORY
    this.usual.add(isFast, isPrompt, isHolding, now, this.patienceMs)
    if (this.limit < Infinity) this.adjust(share, now - latencyMs, now, isHolding)
  }

  /** An attempt ran into its time limit. Its answer would have taken the whole patience at least, and counts as that. */
  missed(latencyMs: number, now: number, isHolding: boolean): void {
    this.leave()
    this.quiet.ended++
    this.slow.ended++
    this.usual.addLate(isHolding)
    this.loss.missed(now - latencyMs, this.silent)
    if (this.limit === Infinity) return
    if (this.usual.areSlow) this.limit = Math.max(1, this.limit * (1 - this.usual.surpriseOfLate * SLOW_CUT))
    else this.count(1, now - latencyMs, now)
  }

  /** What was known of the state of the dependency is old; what answers usually take is not. */
  startAnew(): void {
    if (this.inFlight > 0) return
    this.silent = false
    this.limit = Infinity
    this.quiet.end()
    this.slow.end()
    this.round = undefined
  }

  snapshot(): AttemptWindowState {
    return this.usual.snapshot()
  }

  restore(state: unknown): void {
    this.usual.restore(state)
  }

  private leave(): void {
    this.inFlight = Math.max(0, this.inFlight - 1)
    if (this.inFlight === 0 && !this.silent) this.slow.end()
  }

  private isSlow(now: number): boolean {
    return now - this.slow.sinceMs >= FAST_SHARE * this.patienceMs && !this.usual.explainsNoneFast(this.slow.attempts)
  }

  private isSilence(now: number): boolean {
    if (now - this.quiet.sinceMs < this.quietMs || this.loss.explains(this.inFlight)) return false
    const { ended, attempts } = this.quiet
    return !this.usual.explainsSilence(ended, attempts - ended)
  }

  private get quietMs(): number {
    return this.patienceMs * (this.usual.areSlow ? 1 : QUIET_SHARE)
  }

  private endSilence(now: number): void {
    this.silent = false
    this.usual.assumeFast(this.quiet.ended)
    if (now - this.quiet.sinceMs < this.quietMs + this.patienceMs / 2) return
    const share = this.usual.areSlow ? 1 : 0.5
    this.close(Math.max(this.inFlight + 1, this.inFlightBeforeSilence * share))
  }

  private adjust(share: number, startMs: number, now: number, isHolding: boolean): void {
    if (this.usual.areSlow) {
      this.limit = isHolding ? this.limit + GROWTH : Infinity
      return
    }
    const isFast = share <= FAST_SHARE
    if (!isHolding && isFast) {
      this.limit = Infinity
      this.round = undefined
      return
    }
    if (isHolding && isFast) this.limit += Math.max(1 / this.limit, GROWTH)
    else if (isHolding && this.round?.mayWiden) this.limit += GROWTH
    this.count(share, startMs, now)
  }

  private count(share: number, startMs: number, now: number): void {
    if (this.round?.add(share, startMs, now, this.limit) === 'slower') this.limit = Math.max(1, this.limit / SLOWER)
  }

  private close(limit: number): void {
    this.limit = limit
    this.round = new Round()
  }
}

/** Compares the answers of a round, which is a window of them, with those of the first round after the window closed. */
class Round {
  private answers = 0
  /** Sum of the logarithms of the shares: a long tail moves their geometric mean less than their mean. */
  private logs = 0
  private slower = 0
  /** Share of the patience that answers took in the first round, or less if it became less since; `Infinity` in that round. */
  private level = Infinity
  /** Attempts that started before the last cut say nothing about the window after it. */
  private cutMs = -Infinity
  /** Whether slow answers may widen the window: those of the last round were not slower than before. */
  mayWiden = false

  add(share: number, startMs: number, now: number, limit: number): 'slower' | undefined {
    if (startMs < this.cutMs) return undefined
    this.answers++
    // Fast answers count alike: one that becomes slower and stays fast is no sign of a queue.
    this.logs += Math.log(Math.max(FAST_SHARE, share))
    if (share > SLOWER * this.level) this.slower++
    return this.answers < Math.max(FEW, limit) ? undefined : this.end(now)
  }

  private end(now: number): 'slower' | undefined {
    const mean = Math.exp(this.logs / this.answers)
    const isSlower = this.slower > MAJORITY * this.answers
    this.begin()
    this.mayWiden = !isSlower
    if (isSlower) this.cutMs = now
    this.level = Math.min(this.level, mean)
    return isSlower ? 'slower' : undefined
  }

  private begin(): void {
    this.answers = 0
    this.logs = 0
    this.slower = 0
  }
}
