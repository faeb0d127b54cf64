/** Keys for new tasks, taken in blocks: whoever creates a task knows its key before it is written. Imports its own layer. */
import type { Connection } from './connections.js'
import type { Statements } from './statements.js'

/** As the sequence counts. */
const BLOCK = 1000
const AHEAD = 16

interface Range {
  next: number
  readonly end: number
}

/** Keys that are one batch's alone. */
export interface KeySupply {
  readonly next: () => number
  /** What was not used is there for the next batch. */
  giveBack(): void
}

export class TaskKeys {
  private readonly sql: Statements
  private readonly free: Range[] = []

  constructor(sql: Statements) {
    this.sql = sql
  }

  async reserve(count: number, connection: Connection): Promise<KeySupply> {
    // Taken at once, so that nobody else takes them while the server is asked for more.
    const ranges: Range[] = []
    let size = 0
    while (size < count && this.free.length > 0) {
      const range = this.free.pop() as Range
      ranges.push(range)
      size += range.end - range.next
    }
    if (size < count) {
      // Whoever creates many goes on so: then the next batches need not ask.
      const ahead = count < BLOCK / 10 ? 0 : AHEAD
      const rows = await connection.query(this.sql.taskKeys, [Math.ceil((count - size) / BLOCK) + ahead])
      for (const { first } of rows) ranges.push({ next: first as number, end: (first as number) + BLOCK })
    }
    return this.supply(ranges)
  }

  private supply(ranges: Range[]): KeySupply {
    const next = (): number => {
      const range = ranges.find((one) => one.next < one.end)
      if (range === undefined) throw new Error('More tasks were created than were named')
      return range.next++
    }
    return { next, giveBack: () => this.free.push(...ranges.splice(0).filter((one) => one.next < one.end)) }
  }
}
