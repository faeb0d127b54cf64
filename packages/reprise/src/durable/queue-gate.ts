/**
 * The gate of a queue: how many of its tasks may have an owner, how many may start in a second, and whether it is paused. The
 * ledger's row decides, so that all of it can be changed while tasks run. Imports core's token bucket, the ledger's port
 * and its own layer.
 *
 * Invariants: the count of owners is the store's (`ledger/queue-limit.ts`). A start takes its token in the commit of the
 * claim, which has locked the row, so the rate is exact over processes; a task that is over before it begins takes none.
 */
import { tokenBucket, type TokenBucket } from '../core/budgets/token-bucket.js'
import type { BudgetRequest } from '../core/budget.js'
import type { Ledger, QueueRef, View } from '../ledger/ledger.js'
import { NO_MOST, queueKey, type QueueRate, type QueueState, shareOf } from '../ledger/queue-limit.js'
import type { GateRecord, Json } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { gateFaults } from './gate-check.js'

/** How many starts may come at once, in milliseconds of the rate: a claim cannot be timed more finely. */
const BURST_MS = 50

/** A rate as people give it. */
export interface RateInput {
  readonly perSecond: number
  readonly burst?: number
}

export function queueRate({ perSecond, burst }: RateInput): QueueRate {
  return { perSecond, burst: burst ?? Math.max(1, Math.ceil((perSecond * BURST_MS) / 1000)) }
}

/** Whether claims look at the gate of its queue. */
export function hasQueueGate({ most, rate }: Pick<Definition, 'most' | 'rate'>): boolean {
  return most !== undefined || rate !== undefined
}

/** The limit that a claim names; undefined if the queue has no gate. */
function mostNamed(definition: Pick<Definition, 'most' | 'rate'>): number | undefined {
  return hasQueueGate(definition) ? (definition.most ?? NO_MOST) : undefined
}

/** What a program says of a queue, as the gate keeps it beside the state. */
type QueueSettings = Pick<QueueState, 'most' | 'rate'>

/**
 * Makes the gate of the queue if it is missing. A limit that was made with another number, by an earlier version of the
 * program, gets the new one; one that was changed by hand since then stays as it is.
 */
export async function writeQueueGate(ledger: Ledger, definition: Definition): Promise<void> {
  const key = queueKey(definition.queue)
  const settings = settingsOf(definition)
  await ledger.transact({ tasks: [], gates: [key] }, (view) => {
    const gate = view.gate(key)
    // One that cannot be is left as it is: claims say so.
    if (gate !== undefined && (isSame(gate.settings, settings) || gateFaults(gate).length > 0))
      return { result: undefined }
    return { gates: [gateWith(gate, key, settings)], result: undefined }
  })
}

function settingsOf({ most, rate }: Definition): QueueSettings {
  return { ...(most !== undefined && { most }), ...(rate !== undefined && { rate }) }
}

function gateWith(gate: GateRecord | undefined, key: string, settings: QueueSettings): GateRecord {
  const before = (gate?.settings ?? {}) as QueueSettings
  const state: Record<string, unknown> = { ...(gate?.state as QueueState | undefined) }
  for (const field of ['most', 'rate'] as const) {
    if (gate !== undefined && isSame(before[field], settings[field])) continue
    if (settings[field] === undefined) delete state[field]
    else state[field] = settings[field]
  }
  return { ...gate, key, kind: 'queue', state: state as Json, settings: settings as unknown as Json }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}

/** Why nothing of the queue may start: its gate cannot be as it is recorded. Undefined if it can, or if there is none. */
export function faultsOfQueue(definition: Definition, view: View): { gate: string; faults: string[] } | undefined {
  if (!hasQueueGate(definition)) return undefined
  const key = queueKey(definition.queue)
  const gate = view.gate(key)
  const faults = gate === undefined ? [] : gateFaults(gate)
  return faults.length === 0
    ? undefined
    : { gate: key, faults: faults.map((fault) => `queue ${definition.queue}: ${fault}`) }
}

/** How many tasks of the queue this process may run at a time; see `shareOf`. */
export function shareIn(definition: Definition, view: View, owner: string): number {
  if (!hasQueueGate(definition)) return Infinity
  return shareOf((view.gate(queueKey(definition.queue))?.state ?? {}) as QueueState, owner)
}

/** What the gate says to a task that a claim has found. */
export type Paced =
  /** It may start; `gate`: the row with what is left then. */
  | { readonly gate: GateRecord }
  /** The next start is possible after this time. */
  | { readonly waitMs: number }

/** Undefined if the queue has no rate. */
export function paceOf(definition: Definition, view: View): Paced | undefined {
  if (!hasQueueGate(definition)) return undefined
  const key = queueKey(definition.queue)
  // A claim may come before the gate has been made.
  const gate = view.gate(key) ?? gateWith(undefined, key, settingsOf(definition))
  const state = (gate.state ?? {}) as QueueState
  if (state.rate === undefined) return undefined
  const bucket = bucketOf(state.rate, state.bucket)
  const request = startAt(definition.queue, view.now)
  if (!bucket.allowAttempt(request).allowed) return { waitMs: bucket.nextAllowedAtMs(request) - view.now }
  return { gate: { ...gate, state: { ...(gate.state as object), bucket: bucket.snapshot() } as unknown as Json } }
}

function bucketOf({ perSecond, burst }: QueueRate, state: QueueState['bucket']): TokenBucket {
  const bucket = tokenBucket({ capacity: burst, refillPerSecond: perSecond })
  if (state !== undefined) bucket.restore(state)
  return bucket
}

function startAt(queue: string, now: number): BudgetRequest {
  const ref = { name: queue, cost: 1 }
  return {
    key: queue,
    attempt: 1,
    launch: 1,
    kind: 'retry',
    ref,
    now,
    deadlineMs: Infinity,
    attemptTimeoutMs: undefined,
  }
}

/** What a claim names of the queue; nothing if all ranks are held. */
export function refsOf(definition: Definition, ranks: readonly number[] | undefined): QueueRef[] {
  if (ranks?.length === 0) return []
  const { queue, record, batch } = definition
  const most = mostNamed(definition)
  const named = { queue, policyHash: record.hash, ...(most !== undefined && { most }), ...(ranks && { ranks }) }
  return [batch === undefined ? named : { ...named, batch: { most: batch.most, apart: batch.apart } }]
}
