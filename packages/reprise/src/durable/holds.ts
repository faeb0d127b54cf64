/**
 * Queues that this process claims nothing from for now, because a gate would deny it. A hold says what ends it: the end of
 * an attempt that gives a place back, or the next poll. Nothing of it is written. Imports nothing.
 *
 * Invariant: a hold that was found by a claim counts only if nothing was released while the claim ran: a place that came
 * free meanwhile would otherwise be noticed by the next poll alone.
 */

export class Holds {
  /** By queue, the key of the gate. */
  private readonly held = new Map<string, string>()
  private releases = 0

  /** To be handed to `hold` by a claim that begins now. */
  get mark(): number {
    return this.releases
  }

  isHeld(queue: string): boolean {
    return this.held.has(queue)
  }

  /** False if something was released since `mark`: the queue has to be looked at again. */
  hold(queue: string, gate: string, mark: number): boolean {
    if (mark !== this.releases) return false
    this.held.set(queue, gate)
    return true
  }

  /** An attempt that these gates had allowed has ended. Whether a queue was held by one of them. */
  attemptEnded(gates: readonly string[]): boolean {
    this.releases++
    const { size } = this.held
    for (const [queue, gate] of this.held) if (gates.includes(gate)) this.held.delete(queue)
    return this.held.size < size
  }

  /** Other processes may have given places back. */
  releaseAll(): void {
    this.releases++
    this.held.clear()
  }
}
