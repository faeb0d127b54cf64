/**
 * Which of the due tasks are taken when there is not room for all: every queue gets its turn, so that one with a long
 * backlog does not keep the others waiting. Imports the records.
 */
import type { TaskRecord } from './records.js'

interface Due {
  readonly task: Pick<TaskRecord, 'queue' | 'dueAtMs'>
}

/** `due`: of each queue the earliest, in order. The answer begins with the earliest of all that are taken. */
export function fairShare<T extends Due>(due: readonly T[], limit: number): T[] {
  const taken = due.length <= limit ? [...due] : inTurns(due).slice(0, limit)
  return taken.toSorted((a, b) => (a.task.dueAtMs as number) - (b.task.dueAtMs as number))
}

/** The first of every queue, then the second of every queue, and so on. */
function inTurns<T extends Due>(due: readonly T[]): T[] {
  const seen = new Map<string, number>()
  const ranked = due.map((one) => {
    const rank = seen.get(one.task.queue) ?? 0
    seen.set(one.task.queue, rank + 1)
    return { one, rank }
  })
  const before = (a: T, b: T): number => (a.task.dueAtMs as number) - (b.task.dueAtMs as number)
  return ranked.toSorted((a, b) => a.rank - b.rank || before(a.one, b.one)).map(({ one }) => one)
}
