/**
 * Looks at a ledger between two lives of its processes, and compares them: what a later record no longer shows (I3, I4,
 * I5, I7, I9). Imports the ledger's types.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type GateRecord, type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import type { OpenSpan } from './gate-history.js'

export interface Snapshot {
  readonly takenAtMs: number
  readonly tasks: readonly TaskRecord[]
  readonly attempts: ReadonlyMap<string, number>
  readonly gates: readonly GateRecord[]
  readonly letters: number
}

const nameOf = ({ scope, id }: TaskRecord): string => `${scope}/${id}`

export async function snapshotOf(ledger: Ledger): Promise<Snapshot> {
  const tasks = await ledger.list({})
  const attempts = new Map<string, number>()
  for (const task of tasks) attempts.set(nameOf(task), (await ledger.attempts(task)).length)
  const takenAtMs = await ledger.now()
  return { takenAtMs, tasks, attempts, gates: await ledger.gates(), letters: (await ledger.deadLetters()).length }
}

/** What must not have happened from one to the other. */
export function faultsBetween(before: Snapshot, after: Snapshot): string[] {
  const later = new Map(after.tasks.map((task) => [nameOf(task), task]))
  const faults = before.tasks.flatMap((task) => {
    const now = later.get(nameOf(task))
    if (now === undefined) return [`${nameOf(task)}: is lost`]
    const rows = (after.attempts.get(nameOf(task)) ?? 0) - (before.attempts.get(nameOf(task)) ?? 0)
    return faultsOfStep(task, now, rows).map((fault) => `${nameOf(task)}: ${fault}`)
  })
  if (after.letters < before.letters) faults.push('dead letters are lost')
  const gates = new Map(after.gates.map((gate) => [gate.key, gate]))
  return [...faults, ...before.gates.flatMap((gate) => gateStepFaults(gate, gates.get(gate.key), after.takenAtMs))]
}

function faultsOfStep(before: TaskRecord, after: TaskRecord, newRows: number): string[] {
  const faults: string[] = []
  if (after.fence < before.fence) faults.push(`its fence falls from ${before.fence} to ${after.fence}`)
  if (after.generation < before.generation) faults.push('its generation falls')
  if (newRows < 0) faults.push('attempts are lost')
  if (after.generation !== before.generation) {
    return before.status === 'succeeded' ? [...faults, 'succeeded, and was reset'] : faults
  }
  if (TERMINAL.has(before.status) && JSON.stringify(before) !== JSON.stringify(after))
    faults.push(`was ${before.status}, and changed`)
  const [old, now] = [before.progress.retry, after.progress.retry]
  for (const field of ['failures', 'launched', 'totalDelayMs'] as const)
    if (now[field] < old[field]) faults.push(`its ${field} fall from ${old[field]} to ${now[field]}`)
  // The deadline is set by the first start, and never moved.
  const isMoved = now.deadlineAtMs !== old.deadlineAtMs && (old.deadlineAtMs !== null || old.launched > 0)
  if (now.seed !== old.seed || isMoved) faults.push('its seed or deadline changes')
  if (old.expiresAtMs !== null && now.expiresAtMs !== old.expiresAtMs) faults.push('its expiry moves')
  if (old.resumed && !now.resumed) faults.push('was resumed, and was not')
  return faults
}

interface GateState {
  readonly used?: number
  readonly granted?: number
  readonly keys?: unknown
  readonly phase?: string
  readonly openUntilMs?: number | null
}

/** I4 and I9; who changed it by hand has raised its manual revision. */
function gateStepFaults(before: GateRecord, after: GateRecord | undefined, now: number): string[] {
  if (after === undefined) return [`${before.key}: is lost`]
  const [old, next] = [before.state as GateState, after.state as GateState]
  // A count has a list of keys; what else is used may be given back.
  if (old.keys !== undefined && (next.used ?? 0) < (old.used ?? 0))
    return [`${before.key}: its use falls from ${old.used} to ${next.used}`]
  if ((next.granted ?? 0) < (old.granted ?? 0)) return [`${before.key}: what was granted falls`]
  const [manualRevision, later] = [before.manualRevision ?? 0, after.manualRevision ?? 0]
  if (later !== manualRevision) return later < manualRevision ? [`${before.key}: its manual revision falls`] : []
  const isStillOpen = old.phase === 'open' && now < (old.openUntilMs ?? 0)
  const isLess = next.phase !== 'open' || (next.openUntilMs ?? 0) < (old.openUntilMs ?? 0)
  return isStillOpen && isLess ? [`${before.key}: closes before its time`] : []
}

/** Breakers that are open with nobody alive: until then nothing may start. */
export function openSpans({ gates, takenAtMs }: Snapshot): OpenSpan[] {
  return gates.flatMap(({ key, kind, state }) => {
    const { phase, openUntilMs } = state as GateState
    const isOpen = kind === 'breaker' && phase === 'open' && (openUntilMs ?? 0) > takenAtMs
    return isOpen ? { run: key.slice('breaker:'.length), fromMs: takenAtMs, toMs: openUntilMs as number } : []
  })
}

/** I9: a budget that holds a slot for every attempt knows of all that are in flight, though their process is gone. */
export function flightFaults({ gates, tasks }: Snapshot, key: string, run: string): string[] {
  const state = gates.find((gate) => gate.key === key)?.state as GateState | undefined
  const isInFlight = (task: TaskRecord): boolean => !TERMINAL.has(task.status) && task.progress.current !== null
  const flying = tasks.filter((task) => task.scope === run && isInFlight(task)).length
  const used = state?.used ?? 0
  return used < flying ? [`${key}: holds ${used} slots, and ${flying} attempts are in flight`] : []
}
