/**
 * Which of the due tasks are taken when there is not room for all: the queues take turns, so that one with a long backlog
 * does not keep the others waiting. The order of the turns is the order in which the request names the queues. Whoever
 * claims again and again names those first that were served longest ago (`QueueTurns`): then every queue gets its turn
 * even if there is room for a single task at a time. Imports nothing.
 */

/** `queues`: of each queue its due tasks in the order of the claim. */
export function fairShare<T>(queues: readonly (readonly T[])[], limit: number): T[] {
  const taken: T[] = []
  for (let round = 0; ; round++) {
    const before = taken.length
    for (const due of queues) {
      if (taken.length === limit) return taken
      if (round < due.length) taken.push(due[round] as T)
    }
    if (taken.length === before) return taken
  }
}

/** A queue that is left out for a while keeps its place, as long as there are not this many of them. */
const MOST_REMEMBERED = 100

/** The order in which queues take their turns, remembered between claims. */
export class QueueTurns {
  /** By name, the queue that was served longest ago first. */
  private readonly served = new Set<string>()

  /** Queues that were never served come first, in the order in which they are given. */
  inOrder<Q extends { readonly queue: string }>(queues: readonly Q[]): readonly Q[] {
    if (queues.length < 2 || this.served.size === 0) return queues
    const known = new Map(queues.map((one) => [one.queue, one]))
    if (this.served.size > MOST_REMEMBERED + 4 * queues.length) this.forgetOthers(known)
    const waited = queues.filter(({ queue }) => !this.served.has(queue))
    return [...waited, ...[...this.served].flatMap((queue) => known.get(queue) ?? [])]
  }

  get remembered(): number {
    return this.served.size
  }

  /** A task of this queue was taken. */
  serve(queue: string): void {
    this.served.delete(queue)
    this.served.add(queue)
  }

  /** Queues of runs that are over are not named any more. */
  private forgetOthers(known: ReadonlyMap<string, unknown>): void {
    for (const queue of this.served) if (!known.has(queue)) this.served.delete(queue)
  }
}
