/**
 * Lists of the ledger in memory, as the others give them: the same orders, cursors and limits. Imports core's state and
 * its own layer.
 */
import { initialState, snapshot } from '../core/state.js'
import { compareWaiting, FRESH_RANK, rankOf } from './claim-order.js'
import type {
  AttemptCounts,
  AttemptPage,
  SurveyFilter,
  SurveyPage,
  LetterFilter,
  ResultPage,
  RetryingFilter,
  RunFilter,
  StatusCounts,
  TaskFilter,
  TaskResult,
  WaitingCount,
  WaitingFilter,
} from './ledger.js'
import { isIn, type MemoryTables } from './memory-housekeeping.js'
import {
  type AttemptRow,
  type DeadLetter,
  keyIn,
  nameOf,
  type RunRecord,
  scopeOfRun,
  type TaskKey,
  type TaskRecord,
  type TaskStatus,
} from './records.js'

type Tables = MemoryTables

export function allTasks(tables: Tables): TaskRecord[] {
  return [...tables.tasks.values()].map(({ task }) => task)
}

export function listTasks(tables: Tables, filter: TaskFilter): readonly TaskRecord[] {
  const { queue, statuses, hasFailed, sinceMs = -Infinity, owner, after, limit, withInput = true } = filter
  const found = allTasks(tables)
    .filter(
      (task) =>
        isIn(task, filter) &&
        (queue === undefined || task.queue === queue) &&
        (statuses === undefined || statuses.includes(task.status)) &&
        (hasFailed === undefined || failuresOf(task) > 0 === hasFailed) &&
        (owner === undefined || task.owner === owner) &&
        task.updatedAtMs >= sinceMs &&
        (after === undefined || compareKeys(task, after) > 0),
    )
    .toSorted(compareKeys)
    .slice(0, limit)
  return withInput ? found : found.map((task) => ({ ...task, input: null }))
}

/** A record of before there was a retry state counts as fresh. */
function failuresOf({ progress }: TaskRecord): number {
  return (progress as Partial<TaskRecord['progress']>).retry?.failures ?? 0
}

export function listRuns(tables: Tables, filter: RunFilter): readonly RunRecord[] {
  const { idPrefix, name, kind, statuses, sinceMs = -Infinity, after, limit } = filter
  const compare = (a: Pick<RunRecord, 'id' | 'createdAtMs'>, b: Pick<RunRecord, 'id' | 'createdAtMs'>): number =>
    (idPrefix === undefined ? b.createdAtMs - a.createdAtMs : 0) || compareText(b.id, a.id)
  return [...tables.runs.values()]
    .map(({ run }) => run)
    .filter(
      (run) =>
        run.id.startsWith(idPrefix ?? '') &&
        (name === undefined || run.name === name) &&
        (kind === undefined || run.kind === kind) &&
        (statuses === undefined || statuses.includes(run.status)) &&
        run.createdAtMs >= sinceMs &&
        (after === undefined || compare(run, after) > 0),
    )
    .toSorted(compare)
    .slice(0, limit)
}

export function listAttempts(
  tables: Tables,
  tasks: readonly TaskKey[],
  { after, limit }: AttemptPage,
): readonly AttemptRow[] {
  return tasks
    .flatMap((task) => tables.attempts.get(nameOf(task)) ?? [])
    .filter((row) => after === undefined || compareAttempts(row, after) > 0)
    .toSorted(compareAttempts)
    .slice(0, limit)
}

export function listLetters(tables: Tables, filter: LetterFilter): readonly DeadLetter[] {
  const { id, signature, isOpen, after, limit } = filter
  return [...tables.dead.values()]
    .filter(
      (letter) =>
        isIn(letter, filter) &&
        (id === undefined || letter.id === id) &&
        (isOpen === undefined || (letter.closed === undefined) === isOpen) &&
        (signature === undefined || letter.signature === signature) &&
        (after === undefined || compareLetters(letter, after) > 0),
    )
    .toSorted(compareLetters)
    .slice(0, limit)
}

export function listRetrying(tables: Tables, { after, limit }: RetryingFilter): readonly TaskRecord[] {
  return allTasks(tables)
    .filter((task) => task.status === 'parked' || (task.status === 'waiting' && rankOf(task) !== FRESH_RANK))
    .filter((task) => task.dueAtMs !== null && (after === undefined || compareWaiting(task, after) > 0))
    .toSorted(compareWaiting)
    .slice(0, limit)
}

export function countWaiting(tables: Tables, queue: string): readonly WaitingCount[] {
  const counts = new Map<string, WaitingCount>()
  for (const task of allTasks(tables)) {
    if (task.status !== 'waiting' || task.queue !== queue) continue
    const [{ policyHash }, rank] = [task, rankOf(task)]
    const name = `${policyHash} ${rank}`
    counts.set(name, { policyHash, rank, tasks: (counts.get(name)?.tasks ?? 0) + 1 })
  }
  return [...counts.values()].toSorted((a, b) => compareText(a.policyHash, b.policyHash) || a.rank - b.rank)
}

export function listWaiting(tables: Tables, filter: WaitingFilter): readonly TaskRecord[] {
  const { queue, policyHash, rank, after, limit } = filter
  return allTasks(tables)
    .filter((task) => task.status === 'waiting' && task.queue === queue && task.policyHash === policyHash)
    .filter((task) => rankOf(task) === rank && (after === undefined || compareWaiting(task, after) > 0))
    .toSorted(compareWaiting)
    .slice(0, limit)
}

export function surveyWaiting(tables: Tables, filter: SurveyFilter): SurveyPage {
  const { queue, policyHash, rank, nowMs, after, limit } = filter
  const isAfter = ({ dueAtMs, id }: TaskRecord, end: { dueAtMs: number; id: string }): boolean =>
    dueAtMs !== null && (dueAtMs > end.dueAtMs || (dueAtMs === end.dueAtMs && id > end.id))
  const all = listWaiting(tables, { queue, policyHash, rank })
  const left = after === undefined ? all : all.filter((task) => isAfter(task, after))
  const last = left.filter(({ dueAtMs }) => dueAtMs !== null)[limit - 1]
  const end = last && { dueAtMs: last.dueAtMs as number, id: last.id }
  const found = end === undefined ? left : left.filter((task) => !isAfter(task, end))
  const others = found.filter((task) => !isSound(tables, task, nowMs))
  return { sound: found.length - others.length, others, end }
}

/** As it was created: a retry is never taken for sound here, since to look at one costs no query. */
function isSound(tables: Tables, task: TaskRecord, nowMs: number): boolean {
  const { progress, dueAtMs, createdAtMs, updatedAtMs, compacted } = task
  const retry = snapshot(initialState(null), (progress.retry as { seed?: number } | undefined)?.seed ?? 0)
  const created = JSON.stringify({ retry, current: null, interruptions: 0, lastFailure: null })
  const areTimes = [dueAtMs, createdAtMs, updatedAtMs].every((time) => time !== null && time >= 0 && time <= 8.64e15)
  const hasHistory = (tables.attempts.get(nameOf(task))?.length ?? 0) > 0 || compacted !== undefined
  return JSON.stringify(progress) === created && areTimes && updatedAtMs <= nowMs && !hasHistory
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function compareKeys(a: TaskKey, b: TaskKey): number {
  return compareText(a.scopeKind, b.scopeKind) || compareText(a.scope, b.scope) || compareText(a.id, b.id)
}

type AttemptPlace = NonNullable<AttemptPage['after']>

function compareAttempts(a: AttemptPlace, b: AttemptPlace): number {
  return compareText(a.id, b.id) || a.generation - b.generation || a.attempt - b.attempt || a.execution - b.execution
}

type LetterPlace = NonNullable<LetterFilter['after']>

function compareLetters(a: LetterPlace, b: LetterPlace): number {
  return a.atMs - b.atMs || compareKeys(a, b) || a.generation - b.generation
}

export function listResults(tables: Tables, run: string, { after, limit }: ResultPage): readonly TaskResult[] {
  const from = after === undefined ? {} : { after: keyIn(scopeOfRun(run), after) }
  const page = limit === undefined ? from : { ...from, limit }
  const tasks = listTasks(tables, { ...scopeOfRun(run), statuses: ['succeeded'], ...page })
  return tasks.map(({ id, result = null, progress }) => ({ id, result, failures: progress.retry.failures }))
}

export function countTasks(tables: Tables, run: string): StatusCounts {
  const counts: Partial<Record<TaskStatus, number>> = {}
  for (const { status } of listTasks(tables, scopeOfRun(run))) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

export function countAttempts({ tasks, attempts }: Tables, key: TaskKey): AttemptCounts {
  const generation = tasks.get(nameOf(key))?.task.generation
  const rows = (attempts.get(nameOf(key)) ?? []).filter((row) => row.generation === generation)
  const ended = rows.filter(({ outcome, failure }) => outcome !== 'interrupted' || failure !== null)
  return { last: rows.reduce((most, { attempt }) => Math.max(most, attempt), 0), ended: ended.length }
}
