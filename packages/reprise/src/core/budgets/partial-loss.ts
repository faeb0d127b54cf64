/**
 * How many attempts get no answer although the dependency answers: a part of it is away, a shard or an endpoint behind
 * the same budget. The sign of it is an attempt that is late although one that started after it had its answer in good
 * time; in a queue, or in an outage of everything, no attempt is overtaken so.
 *
 * It tells whether attempts in a row without an answer are chance. With a part away, a client with few calls often sees
 * a few such attempts in a row, and would take each time for an outage of the whole. O(1) per event. Imports core only.
 */
import { LEAST_CHANCE, LONG_TAIL, moved } from './evidence.js'

export class PartialLoss {
  /** Share of attempts that were late although others overtook them. */
  private share = 0
  /** Late attempts since the last answer. */
  private misses = 0
  /** When the latest attempt started that had its answer in good time. */
  private answeredStartMs = -Infinity

  answered(isPrompt: boolean, startMs: number): void {
    this.misses = 0
    if (this.share > 0) this.share = moved(this.share, false)
    if (isPrompt && startMs > this.answeredStartMs) this.answeredStartMs = startMs
  }

  /** In a silence only probes start, so there the late attempts are a choice and not a share. */
  missed(startMs: number, isSilent: boolean): void {
    this.misses++
    if (!isSilent && startMs < this.answeredStartMs) this.share = moved(this.share, true)
  }

  /** Whether it may be chance that neither these attempts nor any since the last answer had one. */
  explains(inFlight: number): boolean {
    return this.share > LONG_TAIL && this.share ** (this.misses + inFlight) > LEAST_CHANCE
  }
}
