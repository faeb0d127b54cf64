/** What is known of one task: its record, its attempts, and what really ran. Imports the ledger's types. */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  Scope,
  StoredEvent,
  TaskRecord,
} from '../../packages/reprise/src/ledger/records.js'

/** A start of an operation, as the operation itself wrote it down. */
export interface Start {
  readonly task: string
  readonly attempt: number
  readonly execution: number
  /** 1 unless the task was reset. */
  readonly generation?: number
  /** The fence behind which it ran. */
  readonly fence?: number
  /** When it really started, by the clock of the machine. */
  readonly atMs?: number
}

/** The scope of the tasks that a program registered under this name. */
export function scopeOfTasks(name: string): Scope {
  return { scopeKind: 'task', scope: name }
}

/** Clocks of two processes of one machine agree to about a millisecond. */
export const CLOCK_TOLERANCE_MS = 5

/** All there is to know of one task. */
export interface TaskHistory {
  readonly task: TaskRecord
  readonly rows: readonly AttemptRow[]
  readonly starts: readonly Start[]
  readonly events: readonly StoredEvent[]
  readonly letters: readonly DeadLetter[]
}

/** Of all tasks of the scope; those of the other kind that have its name are not looked at. */
export async function historiesOf(
  ledger: Ledger,
  { scopeKind, scope }: Scope,
  starts: readonly Start[],
): Promise<TaskHistory[]> {
  const startsOf = groupBy(starts, ({ task }) => task)
  const events = (await ledger.events(0, Number.MAX_SAFE_INTEGER)).filter(
    (event) => event.scopeKind === scopeKind && event.scope === scope,
  )
  const eventsOf = groupBy(events, ({ id }) => id)
  const lettersOf = groupBy(await ledger.deadLetters({ scopeKind, scope }), ({ id }) => id)
  const histories: TaskHistory[] = []
  for (const task of await ledger.list({ scopeKind, scope })) {
    histories.push({
      task,
      rows: await ledger.attempts(task),
      starts: startsOf.get(task.id) ?? [],
      events: eventsOf.get(task.id) ?? [],
      letters: lettersOf.get(task.id) ?? [],
    })
  }
  return histories
}

function groupBy<T>(items: readonly T[], nameOfItem: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(nameOfItem(item))
    if (group === undefined) groups.set(nameOfItem(item), [item])
    else group.push(item)
  }
  return groups
}
