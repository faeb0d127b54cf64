/**
 * Whether budgets and breakers kept their limits over all processes (I4, I9), told from the attempts and the changes by
 * hand that were recorded, not from what they say of themselves. Imports the ledger's types and the histories.
 */
import type { BreakerPolicy } from '../../packages/reprise/src/core/policy.js'
import type { GateChange } from '../../packages/reprise/src/durable/gate-control.js'
import type { SharedBreakerState } from '../../packages/reprise/src/durable/shared-breaker.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { GateRecord, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { CLOCK_TOLERANCE_MS, historiesOf, scopeOfTasks, type TaskHistory } from './task-history.js'

/** A budget of the load, and what it may give. */
export type GateRule =
  | {
      readonly type: 'count' | 'allotment'
      readonly name: string
      readonly runs: readonly string[]
      readonly total: number
    }
  | {
      readonly type: 'bucket'
      readonly name: string
      readonly runs: readonly string[]
      readonly capacity: number
      readonly refillPerSecond: number
    }

/** A stretch of time for which a breaker was seen to be open, with nobody alive to close it. */
export interface OpenSpan {
  readonly run: string
  readonly fromMs: number
  readonly toMs: number
}

export async function gateFaults(
  ledger: Ledger,
  rules: readonly GateRule[],
  spans: readonly OpenSpan[],
): Promise<string[]> {
  const states = new Map((await ledger.gates()).map(({ key, state }) => [key, state]))
  const acts = await actsIn(ledger)
  const faults: string[] = []
  for (const rule of rules) {
    const grants = acts.filter(({ gate, action }) => gate === `budget:${rule.name}` && action === 'grant')
    const histories = (await Promise.all(rule.runs.map((run) => historiesOf(ledger, scopeOfTasks(run), [])))).flat()
    const granted = histories.flatMap(launchesOf)
    if (rule.type === 'bucket') faults.push(...bucketFaults(rule, granted, grants))
    else {
      const charged = rule.type === 'count' ? retriesIn(granted) : allottedIn(histories)
      faults.push(...countFaults(rule, charged, grants, states.get(`budget:${rule.name}`)))
    }
  }
  for (const span of spans) faults.push(...(await openFaults(ledger, untilChanged(span, acts))))
  return faults
}

/** I9: every slot of a half-open breaker is held by an attempt that is recorded, and there are no more than it has. */
export function slotFaults(gates: readonly GateRecord[], tasks: readonly TaskRecord[]): string[] {
  return gates.flatMap(({ key, kind, state, settings }) => {
    const { phase, epoch, probes = 0 } = state as Partial<SharedBreakerState>
    if (kind !== 'breaker' || phase !== 'half_open') return []
    const holders = tasks.filter(({ progress }) => {
      const probe = progress.current?.probe
      return `breaker:${probe?.breaker}` === key && probe?.epoch === epoch
    }).length
    const { halfOpenMaxCalls = Infinity } = (settings ?? {}) as Partial<BreakerPolicy>
    const faults = probes === holders ? [] : [`${key}: ${probes} slots are taken, and ${holders} attempts hold one`]
    return probes > halfOpenMaxCalls ? [...faults, `${key}: ${probes} of ${halfOpenMaxCalls} slots are taken`] : faults
  })
}

/** What a person did to a gate. */
interface Act extends GateChange {
  readonly atMs: number
}

async function actsIn(ledger: Ledger): Promise<Act[]> {
  const events = await ledger.events(0, Number.MAX_SAFE_INTEGER, { scopeKind: '', scope: '' })
  const changes = events.filter(({ type }) => type === 'gate_changed')
  return changes.map(({ atMs, detail }) => ({ ...(detail as unknown as GateChange), atMs }))
}

interface Launch {
  readonly attempt: number
  readonly atMs: number
}

/** Every number once, at its first start: an attempt that runs again does so with the grant it has. */
function launchesOf({ task, rows }: TaskHistory): Launch[] {
  const { current } = task.progress
  const first = rows.filter(({ execution, outcome }) => execution === 1 && outcome !== 'denied')
  const launches = first.map(({ attempt, startedAtMs }) => ({ attempt, atMs: startedAtMs }))
  return task.status === 'running' && current?.execution === 1
    ? [...launches, { attempt: current.attempt, atMs: current.startedAtMs }]
    : launches
}

/** A count that is asked at each start: what started. */
function retriesIn(launches: readonly Launch[]): number {
  return launches.filter(({ attempt }) => attempt > 1).length
}

/** A count that is charged at the failure: what the tasks were charged, which their histories are compared with. */
function allottedIn(histories: readonly TaskHistory[]): number {
  return histories.reduce((sum, { task }) => sum + (task.progress.allotted ?? 0), 0)
}

/** I4: used = recorded retries, never above the limit; what was granted on top is recorded too. */
function countFaults(
  { name, total }: Exclude<GateRule, { type: 'bucket' }>,
  retries: number,
  grants: readonly Act[],
  state: unknown,
): string[] {
  const { used = 0, granted = 0 } = (state ?? {}) as { readonly used?: number; readonly granted?: number }
  const given = grants.reduce((sum, { amount = 0 }) => sum + amount, 0)
  const limit = total + given
  const faults = used === retries ? [] : [`budget ${name}: ${retries} retries are recorded, and ${used} charged`]
  if (granted !== given) faults.push(`budget ${name}: was granted ${given}, and has ${granted} of it`)
  return Math.max(used, retries) > limit ? [...faults, `budget ${name}: gave ${retries} of ${limit}`] : faults
}

/**
 * I4: a bucket of the same size, filled at the same rate, could have given all of it, but for what was granted. That is
 * kept apart, so that it does not matter what was in the bucket when it came.
 */
function bucketFaults(
  rule: Extract<GateRule, { type: 'bucket' }>,
  launches: readonly Launch[],
  grants: readonly Act[],
): string[] {
  const { name, capacity, refillPerSecond } = rule
  const slack = (CLOCK_TOLERANCE_MS * refillPerSecond) / 1000
  let level = capacity
  let atMs = -Infinity
  let borrowed = 0
  for (const launch of launches.toSorted((a, b) => a.atMs - b.atMs)) {
    level = Math.min(capacity, level + ((launch.atMs - atMs) * refillPerSecond) / 1000) - 1
    atMs = launch.atMs
    const come = grants.filter((grant) => grant.atMs <= launch.atMs + CLOCK_TOLERANCE_MS)
    const left = come.reduce((sum, { amount = 0 }) => sum + amount, -borrowed)
    const taken = Math.min(Math.max(0, -level), left)
    borrowed += taken
    level += taken
    if (level < -slack) return [`budget ${name}: gave ${(-level).toFixed(2)} more than it had`]
  }
  return []
}

/** A person may end it earlier. */
function untilChanged(span: OpenSpan, acts: readonly Act[]): OpenSpan {
  const ends = acts.filter(
    ({ gate, atMs }) => gate === `breaker:${span.run}` && atMs > span.fromMs - CLOCK_TOLERANCE_MS,
  )
  return { ...span, toMs: ends.reduce((toMs, { atMs }) => Math.min(toMs, atMs), span.toMs) }
}

/** I9: nothing starts while a breaker that was open at a kill still is. */
async function openFaults(ledger: Ledger, { run, fromMs, toMs }: OpenSpan): Promise<string[]> {
  const histories = await historiesOf(ledger, scopeOfTasks(run), [])
  return histories.flatMap(({ task, rows }) => {
    const { current } = task.progress
    const times = rows.filter(({ outcome }) => outcome !== 'denied').map(({ startedAtMs }) => startedAtMs)
    if (task.status === 'running' && current !== null) times.push(current.startedAtMs)
    return times
      .filter((atMs) => atMs > fromMs + CLOCK_TOLERANCE_MS && atMs < toMs - CLOCK_TOLERANCE_MS)
      .map((atMs) => `${task.id}: started ${(toMs - atMs).toFixed(1)} ms before the breaker of ${run} may close`)
  })
}
