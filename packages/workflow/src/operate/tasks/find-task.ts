/**
 * Durable tasks of programs: a page of them, and one that somebody has named as `NAME/ID`. Imports the library and its own
 * directory.
 */
import type { Ledger, Scope, TaskKey, TaskRecord, TaskStatus } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import { OperationError } from '../operation-error.js'
import { taskViews, type TaskView } from './task-view.js'

/** Tasks that are looked at for a near name. */
const LOOKED_AT = 1000

/** Which tasks are listed. */
interface TaskSelection {
  /** Tasks of this name. */
  readonly name?: string
  readonly state?: TaskStatus
  /** Continue after this one. */
  readonly after?: Pick<TaskKey, 'scope' | 'id'>
  readonly limit: number
}

/** Tasks in the order of their names and ids; `next` is the last of them if there are more. */
export async function taskPage(
  ledger: Ledger,
  { name, state, after, limit }: TaskSelection,
): Promise<{ tasks: TaskView[]; next: TaskRecord | undefined }> {
  // One more tells that there are more.
  const found = await ledger.list({
    scopeKind: 'task',
    ...(name !== undefined && { scope: name }),
    ...(state !== undefined && { statuses: [state] }),
    ...(after && { after: { scopeKind: 'task', ...after } }),
    limit: limit + 1,
    withInput: false,
  })
  const shown = found.slice(0, limit)
  return { tasks: await taskViews(ledger, shown), next: found.length > limit ? shown.at(-1) : undefined }
}

/** Whether programs have tasks in this store. */
export async function hasTasks(ledger: Ledger): Promise<boolean> {
  return (await ledger.list({ scopeKind: 'task', limit: 1, withInput: false })).length > 0
}

/** `NAME/ID`, where the id may have slashes; or the name alone, with the id as a word of its own. */
export async function findTask(ledger: Ledger, named: string, id?: string): Promise<TaskRecord> {
  const slash = named.indexOf('/')
  const [scope, own] =
    slash === -1 || id !== undefined ? [named, id ?? ''] : [named.slice(0, slash), named.slice(slash + 1)]
  const task = await ledger.get({ scopeKind: 'task', scope, id: own })
  if (task !== undefined) return task
  throw await unknownTask(ledger, { scopeKind: 'task', scope }, own)
}

async function unknownTask(ledger: Ledger, scope: Scope, id: string): Promise<OperationError> {
  const some = await ledger.list({ ...scope, limit: LOOKED_AT, withInput: false })
  const names = some.length > 0 ? some : await ledger.list({ scopeKind: 'task', limit: LOOKED_AT, withInput: false })
  const known = names.map((task) => `${task.scope}/${task.id}`)
  const named = id === '' ? scope.scope : `${scope.scope}/${id}`
  const near = nearest(named, known)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  return new OperationError('not_found', { code: 'unknown_task' }, `There is no durable task ${named}.${hint}`)
}
