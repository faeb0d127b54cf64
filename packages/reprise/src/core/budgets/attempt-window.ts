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
 *   longer than when it closed. Then the window is cut, and waits longer before it widens again.
 * - No answer at all for half the patience, from more attempts than chance explains (usual-answers.ts, and partial-loss.ts
 *   where a part of the dependency is away): nothing starts but probes. If the silence outlasts the patience, the window opens again at half of what was in flight.
 * - A fast answer while no call is held removes the limit.
 *
 * Where fast answers are not usual, slow ones are no sign of trouble: only silence is. O(1) per event. Imports core only.
 */
import { AnswerGap } from './answer-gap.js'
import { PartialLoss } from './partial-loss.js'
import { UsualAnswers, type UsualAnswersState } from './usual-answers.js'

/** Share of the patience within which an answer is fast. */
export const FAST_SHARE = 0.25
/** Share of the patience without any answer that means trouble. Dependencies with slow answers get a whole one. */
const QUIET_SHARE = 0.5
/** A late answer counts as this many patiences, since it would have taken at least one. */
const LATE_SHARE = 2
/** An answer is slower if it takes this many times what answers took when the window closed. */
const SLOWER = 1.5
/** More than this part of a round must be slower to show a queue. A healthy dependency with a long tail has fewer slow answers. */
const MAJORITY = 0.75
/** A cut takes a window that was too wide by half back to where it was. */
const CUT = 0.7
/** The same for a late attempt where slow answers are usual, whose window grows with every answer. */
const SLOW_CUT = 0.1
/** Room beyond what is in flight when the window closes: a client with few calls would otherwise close around next to nothing. */
const SPARE = 1.5
/** Part of a window that one round of answers widens it by; more was seen to overshoot in a brown-out. */
const GROWTH = 0.25
/** Fewer answers than this are chance. */
const MIN_ROUND = 4
/** Successes over which the mean time of an answer is taken. */
const MEAN_ANSWERS = 8
/** Cuts after which the rounds to wait no longer double. */
const MAX_CUTS = 4

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
  /** Made when the window closes: most keys never need one. Kept with its cuts until a fast answer shows that all is well. */
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
    this.answerMs += (latencyMs - this.answerMs) / MEAN_ANSWERS
    this.usual.add(isFast, isPrompt, isHolding, now, this.patienceMs)
    if (this.limit < Infinity) this.adjust(share, now - latencyMs, now, isHolding)
  }

  /** An attempt ran into its time limit. */
  missed(latencyMs: number, now: number, isHolding: boolean): void {
    this.leave()
    this.quiet.ended++
    this.slow.ended++
    this.usual.addLate(isHolding)
    this.loss.missed(now - latencyMs, this.silent)
    if (this.limit === Infinity) return
    if (this.usual.areSlow) this.limit = Math.max(1, this.limit * (1 - this.usual.surpriseOfLate * SLOW_CUT))
    else this.count(LATE_SHARE, now - latencyMs, now)
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
    if (this.round?.add(share, startMs, now, this.limit) === 'slower') this.limit = Math.max(1, this.limit * CUT)
  }

  private close(limit: number): void {
    this.limit = limit
    this.round ??= new Round()
    this.round.startOver()
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
  private cuts = 0
  private waitRounds = 0

  /** Whether slow answers may widen the window: it is known what they took before, and the last cut is long ago. */
  get mayWiden(): boolean {
    return this.level < Infinity && this.waitRounds === 0
  }

  startOver(): void {
    this.level = Infinity
    this.waitRounds = 0
    this.cutMs = -Infinity
    this.begin()
  }

  add(share: number, startMs: number, now: number, limit: number): 'slower' | undefined {
    if (startMs < this.cutMs) return undefined
    this.answers++
    // Fast answers count alike: one that becomes slower and stays fast is no sign of a queue.
    this.logs += Math.log(Math.max(FAST_SHARE, share))
    if (share > SLOWER * this.level) this.slower++
    return this.answers < Math.max(MIN_ROUND, limit) ? undefined : this.end(now)
  }

  private end(now: number): 'slower' | undefined {
    const mean = Math.exp(this.logs / this.answers)
    const isSlower = this.slower > MAJORITY * this.answers
    this.begin()
    if (isSlower) this.cut(now)
    else if (this.waitRounds > 0) this.waitRounds--
    this.learn(mean)
    return isSlower ? 'slower' : undefined
  }

  private cut(now: number): void {
    this.cuts = Math.min(this.cuts + 1, MAX_CUTS)
    this.waitRounds = 2 ** this.cuts
    this.cutMs = now
  }

  /** A quarter of the way down, so that one lucky round does not make all others look slow. */
  private learn(mean: number): void {
    if (this.level === Infinity) this.level = mean
    else if (mean < this.level) this.level += (mean - this.level) / 4
  }

  private begin(): void {
    this.answers = 0
    this.logs = 0
    this.slower = 0
  }
}
