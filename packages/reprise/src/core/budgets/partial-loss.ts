/**
 * How many attempts get no answer although the dependency answers: a part of it is away, a shard or an endpoint behind
 * the same budget. The sign of it is an attempt that is late although one that started after it had its answer in good
 * time; in a queue, or in an outage of everything, no attempt is overtaken so.
 *
 * It tells whether attempts in a row without an answer are chance. With a part away, a client with few calls often sees
 * a few such attempts in a row, and would take each time for an outage of the whole. O(1) per event. Imports core only.
 */

/** Attempts over which the share is taken. */
const MEMORY = 16
/** A smaller share is the long tail of a dependency that is there. */
const LEAST_SHARE = 0.15
/** What is less likely than this is not chance. A few answers a second give a wrong alarm about once an hour. */
const LEAST_CHANCE = 1e-4
/** Changes no result any more. Without it the share would fade to a denormal number, with which arithmetic takes far longer. */
const NEGLIGIBLE = 1e-20

export class PartialLoss {
  /** Share of attempts that were late although others overtook them. */
  private share = 0
  /** Late attempts since the last answer. */
  private misses = 0
  /** When the latest attempt started that had its answer in good time. */
  private answeredStartMs = -Infinity

  answered(isPrompt: boolean, startMs: number): void {
    this.misses = 0
    if (this.share > 0) this.move(0)
    if (isPrompt && startMs > this.answeredStartMs) this.answeredStartMs = startMs
  }

  /** In a silence only probes start, so there the late attempts are a choice and not a share. */
  missed(startMs: number, isSilent: boolean): void {
    this.misses++
    if (!isSilent && startMs < this.answeredStartMs) this.move(1)
  }

  /** Whether it may be chance that neither these attempts nor any since the last answer had one. */
  explains(inFlight: number): boolean {
    return this.share > LEAST_SHARE && this.share ** (this.misses + inFlight) > LEAST_CHANCE
  }

  private move(to: 0 | 1): void {
    const next = this.share + (to - this.share) / MEMORY
    this.share = next < NEGLIGIBLE ? 0 : next
  }
}
