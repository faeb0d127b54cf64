/** Callers that wait for tasks to end, in this process or another. Imports the ledger's types. */
import { type TaskKey, type TaskRecord, TERMINAL } from '../ledger/records.js'
import { TaskMap } from '../ledger/task-map.js'

interface Waiter {
  readonly resolve: (task: TaskRecord) => void
  readonly reject: (error: unknown) => void
}

interface Awaited {
  readonly key: TaskKey
  readonly waiters: Waiter[]
}

const NOBODY: readonly Waiter[] = Object.freeze([])

export class Waiters {
  private readonly awaited = new TaskMap<Awaited>()
  private failure: { readonly error: unknown } | undefined = undefined

  /** Resolves with the task when it has ended. */
  wait(key: TaskKey): Promise<TaskRecord> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error)
    return new Promise((resolve, reject) => {
      const known = this.awaited.get(key) ?? { key, waiters: [] }
      known.waiters.push({ resolve, reject })
      this.awaited.set(key, known)
    })
  }

  settled(task: TaskRecord): void {
    for (const { resolve } of this.take(task)) resolve(task)
  }

  /** It is not there any more. */
  gone(key: TaskKey, error: unknown): void {
    for (const { reject } of this.take(key)) reject(error)
  }

  /** Nobody will know any more, whoever comes to wait; answers how many were told. */
  failAll(error: unknown): number {
    this.failure ??= { error }
    const told = this.awaited.size
    for (const { key } of [...this.awaited.values()]) {
      for (const { reject } of this.take(key)) reject(error)
    }
    return told
  }

  get isEmpty(): boolean {
    return this.awaited.size === 0
  }

  keys(): TaskKey[] {
    return [...this.awaited.values()].map(({ key }) => key)
  }

  private take(key: TaskKey): readonly Waiter[] {
    const waiters = this.awaited.get(key)?.waiters
    if (waiters === undefined) return NOBODY
    this.awaited.delete(key)
    return waiters
  }
}

/** Nothing will happen to it by itself any more. */
export function isOver({ status }: TaskRecord): boolean {
  return TERMINAL.has(status) || status === 'undecided'
}
