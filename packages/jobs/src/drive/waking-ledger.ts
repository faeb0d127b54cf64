/**
 * A ledger that several parts of one process share: a part that makes a task due wakes the part that executes it, which would
 * otherwise find it with its next poll, up to a second later. Imports the library's types.
 */
import type { Decided, Durable, Keys, Ledger, TaskRecord, View } from 'reprise/durable'
import { wakeQueues } from 'reprise/internal'

export class WakingLedger {
  /** What every part of the process uses. Closing it closes the ledger. */
  readonly ledger: Ledger
  private readonly served = new Map<Durable, readonly string[]>()

  constructor(target: Ledger) {
    const transact = <T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> =>
      this.transact(target, keys, decide)
    this.ledger = new Proxy(target, {
      get: (_target, verb) => {
        if (verb === 'transact') return transact
        const value: unknown = Reflect.get(target, verb)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** Tasks of these queues are executed by this part. @example waking.serve(durable, ['jobs/timers']) */
  serve(durable: Durable, queues: readonly string[]): void {
    this.served.set(durable, queues)
  }

  /** It executes nothing any more. @example waking.leave(durable) */
  leave(durable: Durable): void {
    this.served.delete(durable)
  }

  private async transact<T>(target: Ledger, keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    let due: ReadonlySet<string> = new Set()
    const result = await target.transact(keys, (view) => {
      const decided = decide(view)
      // Only the last answer is written.
      due = queuesOf(decided)
      return decided
    })
    if (due.size > 0)
      for (const [durable, queues] of this.served) if (queues.some((queue) => due.has(queue))) wakeQueues(durable)
    return result
  }
}

/** Queues with a task that is new, or may start. */
function queuesOf({ created = [], tasks = [] }: Decided<unknown>): ReadonlySet<string> {
  const isWaiting = ({ status }: TaskRecord): boolean => status === 'waiting'
  const waiting = [...created.map(({ task }) => task), ...tasks].filter(isWaiting)
  return new Set(waiting.map(({ queue }) => queue))
}
