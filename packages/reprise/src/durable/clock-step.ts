/**
 * Gates and a clock that was set back while nothing ran: what is left to wait is never more than there was when it was chosen,
 * as for the waits of tasks. Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import { isJsonObject } from '../ledger/json-shape.js'
import type { GateRecord, Json } from '../ledger/records.js'
import { gateFaults } from './gate-check.js'

/** The gates of the ledger; those that were written at a time to come are corrected first. */
export async function gatesOfNow(ledger: Ledger): Promise<readonly GateRecord[]> {
  const gates = await ledger.gates()
  if (gates.length === 0) return gates
  const now = await ledger.now()
  const ahead = gates.filter((gate) => gateSinceSetBack(gate, now) !== gate).map(({ key }) => key)
  if (ahead.length === 0) return gates
  await ledger.transact({ tasks: [], gates: ahead.toSorted() }, (view) => {
    const changed = ahead.flatMap((key) => {
      const gate = view.gate(key)
      const corrected = gate && gateSinceSetBack(gate, view.now)
      return corrected === undefined || corrected === gate ? [] : [corrected]
    })
    return { gates: changed, result: undefined }
  })
  return ledger.gates()
}

/** The same gate, unless it was written at a time to come. One whose record cannot be is left alone. */
export function gateSinceSetBack(gate: GateRecord, now: number): GateRecord {
  if (gateFaults(gate).length > 0) return gate
  const state = stateSinceSetBack(gate, now)
  return state === gate.state ? gate : { ...gate, state }
}

function stateSinceSetBack({ kind, state, settings = null }: GateRecord, now: number): Json {
  if (kind === 'breaker') return breakerSinceSetBack(state, now)
  if (kind === 'budget') return budgetSinceSetBack(state, settings, now)
  if (kind !== 'queue' || !isJsonObject(state)) return state
  const bucket = bucketSinceSetBack(state['bucket'], now)
  return bucket === state['bucket'] ? state : { ...(state as Record<string, Json>), bucket: bucket as Json }
}

function breakerSinceSetBack(state: Json, now: number): Json {
  const { openUntilMs, openedAtMs, lastFailureAtMs } = state as Readonly<Record<string, Json>>
  const isAhead = typeof openedAtMs === 'number' && openedAtMs > now && typeof openUntilMs === 'number'
  const hasFailedAhead = typeof lastFailureAtMs === 'number' && lastFailureAtMs > now
  if (!isAhead && !hasFailedAhead) return state
  return {
    ...(state as Record<string, Json>),
    ...(isAhead && {
      openedAtMs: now,
      openUntilMs: Math.min(openUntilMs, now + Math.max(0, openUntilMs - openedAtMs)),
    }),
    ...(hasFailedAhead && { lastFailureAtMs: now }),
  }
}

/** Of budgets whose records this version knows; one that is made of others has theirs. */
function budgetSinceSetBack(state: Json, settings: Json, now: number): Json {
  if (!isJsonObject(settings)) return state
  const { type, members } = settings
  if (type === 'token_bucket') return bucketSinceSetBack(state, now) as Json
  if (type !== 'all_of' || !Array.isArray(members) || !Array.isArray(state)) return state
  const own = state as readonly Json[]
  const moved = own.map((one, index) => budgetSinceSetBack(one, (members[index] ?? null) as Json, now))
  return moved.every((one, index) => one === own[index]) ? state : moved
}

/** It keeps its tokens, and is refilled from now on: else nothing would flow in until the time at which it was written. */
function bucketSinceSetBack(state: Json | undefined, now: number): Json | undefined {
  if (!isJsonObject(state) || typeof state['atMs'] !== 'number' || state['atMs'] <= now) return state
  return { ...(state as Record<string, Json>), atMs: now }
}
