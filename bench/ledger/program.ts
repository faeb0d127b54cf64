/** What the floor and the library are both asked to do. Imports nothing. */

export type Operation = (input: number, attempt: number) => Promise<number>

/** One file, opened; `count` tasks are done by each method, `width` at once. */
export interface Program {
  /** Each step awaited by who asked for it. */
  steps(count: number, width: number, operation: Operation): Promise<void>
  /** All recorded first, then done by a worker. */
  queued(count: number, width: number, operation: Operation): Promise<void>
  close(): Promise<void>
}
