/**
 * Whether what a ledger says of a task can be: before anything follows from it. A task that cannot be as it is written
 * is left alone, and every fault is named. Imports core and the ledger's types.
 */
import { STATE_VERSION, type StoredState } from '../core/state.js'
import type { AttemptCounts } from '../ledger/ledger.js'
import { isJsonObject } from '../ledger/json-shape.js'
import type { TaskRecord } from '../ledger/records.js'
import { faultsOfShape } from './task-shape.js'

/** The last moment that JavaScript can name. */
const LAST_MS = 8.64e15

/** Whether it was written before there was a retry state: it gets a fresh one, and that is recorded. */
export function lacksState({ progress }: TaskRecord): boolean {
  return isJsonObject(progress) && progress['retry'] === undefined
}

/** Every fault of the record by itself. `attempts`: how many the policy allows. */
export function faultsOfState(task: TaskRecord, attempts: number): readonly string[] {
  return isAsCreated(task) ? NO_FAULTS : faultsIn(task, attempts)
}

const NO_FAULTS: readonly string[] = Object.freeze([])

/** Most tasks that are claimed: there is nothing that could be wrong, and looking for it takes longer than the claim. */
function isAsCreated({ progress, status, dueAtMs, createdAtMs, updatedAtMs }: TaskRecord): boolean {
  const retry: Partial<StoredState> | null | undefined = progress?.retry
  if (typeof retry !== 'object' || retry === null || status !== 'waiting') return false
  const isFresh =
    retry.version === STATE_VERSION &&
    Number.isSafeInteger(retry.seed) &&
    retry.failures === 0 &&
    retry.launched === 0 &&
    retry.totalDelayMs === 0 &&
    retry.lastDelayMs === 0 &&
    retry.expiresAtMs === null &&
    retry.deadlineAtMs === null &&
    retry.resumed === false
  if (!isFresh || progress.current !== null || progress.interruptions !== 0 || progress.lastFailure !== null)
    return false
  for (const name in progress) if (!CREATED_WITH.has(name)) return false
  return isTime(dueAtMs) && isTime(createdAtMs) && isTime(updatedAtMs)
}

const CREATED_WITH: ReadonlySet<string> = new Set(['retry', 'current', 'interruptions', 'lastFailure'])

function faultsIn(task: TaskRecord, attempts: number): string[] {
  const { progress } = task
  const shape = lacksState(task) ? ['there is no retry state'] : faultsOfShape(progress)
  const { version } = (progress?.retry ?? {}) as { readonly version?: unknown }
  // What a newer version keeps may have another shape.
  if (typeof version === 'number' && version > STATE_VERSION) {
    return [`the retry state has version ${version}, and this program knows ${STATE_VERSION}: update this program`]
  }
  if (shape.length > 0) return shape
  if (version !== STATE_VERSION) return [`the retry state has version ${String(version)}, which there never was`]
  const { retry } = progress
  return [...countFaults(task, attempts), ...delayFaults(retry), ...timeFaults(task), ...currentFaults(task)]
}

/** What the attempts in the ledger say beside the state; those that were compacted away are no fault. */
export function faultsOfHistory(task: TaskRecord, { last, ended }: AttemptCounts): string[] {
  if (faultsOfShape(task.progress).length > 0 || lacksState(task)) return []
  const { retry, current } = task.progress
  if (task.compacted !== undefined) return []
  const faults: string[] = []
  const made = current === null ? retry.launched : retry.launched - 1
  // A number that was interrupted has a row, and runs again.
  if (last !== made && last !== retry.launched)
    faults.push(`the history ends with attempt ${last}, and the state says ${retry.launched}`)
  if (ended !== retry.failures) faults.push(`the history has ${ended} failures, and the state ${retry.failures}`)
  return faults
}

function countFaults({ progress }: TaskRecord, attempts: number): string[] {
  const { retry, interruptions, policyAccepted } = progress
  const faults: string[] = []
  for (const [name, value] of Object.entries({ failures: retry.failures, launched: retry.launched, interruptions })) {
    if (!Number.isSafeInteger(value) || value < 0) faults.push(`${name} is ${String(value)}`)
  }
  if (retry.failures > retry.launched) faults.push(`${retry.failures} of ${retry.launched} attempts failed`)
  // A policy that was accepted later may allow fewer than were made.
  if (retry.launched > attempts && !policyAccepted)
    faults.push(`${retry.launched} attempts were made of ${attempts} allowed`)
  if (!Number.isSafeInteger(retry.seed)) faults.push(`the seed is ${String(retry.seed)}`)
  return faults
}

function delayFaults({ totalDelayMs, lastDelayMs }: StoredState): string[] {
  const faults: string[] = []
  for (const [name, value] of Object.entries({ totalDelayMs, lastDelayMs })) {
    if (!Number.isFinite(value) || value < 0) faults.push(`${name} is ${String(value)}`)
  }
  if (lastDelayMs > totalDelayMs) faults.push(`the last delay is longer than all delays together`)
  return faults
}

const TIMES = ['dueAtMs', 'createdAtMs', 'updatedAtMs', 'deadlineAtMs', 'expiresAtMs'] as const

function timeFaults({ progress, status, dueAtMs, createdAtMs, updatedAtMs }: TaskRecord): string[] {
  const { deadlineAtMs, expiresAtMs } = progress.retry
  const times = { dueAtMs, createdAtMs, updatedAtMs, deadlineAtMs, expiresAtMs }
  const faults: string[] = []
  for (const name of TIMES) {
    const value = times[name]
    if (value !== null && !isTime(value)) faults.push(`${name} is ${String(value)}, which is not a time`)
  }
  return status === 'waiting' && dueAtMs === null ? [...faults, 'it is waiting, and has no due time'] : faults
}

function currentFaults({ progress, status }: TaskRecord): string[] {
  const { current, retry } = progress
  if (current === null) return status === 'running' ? ['it is running, and has no attempt in flight'] : []
  const faults: string[] = []
  if (current.attempt !== retry.launched)
    faults.push(`attempt ${String(current.attempt)} is in flight, and ${retry.launched} were begun`)
  if (!Number.isSafeInteger(current.execution) || current.execution < 1)
    faults.push(`its execution is ${String(current.execution)}`)
  if (!isTime(current.startedAtMs)) faults.push(`it started at ${String(current.startedAtMs)}, which is not a time`)
  return faults
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= LAST_MS
}
