/**
 * Budgets and breakers of a ledger by hand: to look at them, and to change them from a process that uses none of them.
 * Imports core and the ledger's port.
 *
 * Invariants: a change is one transaction on one gate, and leaves an event that says why. Processes that use the gate have
 * it with their next transaction. It raises the gate's decree, which says that what they find is somebody's word, and begins
 * a new era of a breaker: what was begun before it is not counted any more.
 */
import type { BreakerState } from '../core/breaker.js'
import { normalizePolicy } from '../core/normalize.js'
import type { BreakerPolicy } from '../core/policy.js'
import { nearest } from '../core/suggest.js'
import { LedgerError } from '../ledger/errors.js'
import type { Decided, Ledger, View } from '../ledger/ledger.js'
import type { GateRecord, Json, LedgerEvent } from '../ledger/records.js'
import { GateRefusedError } from './errors.js'
import { expectOptions } from './expect-options.js'
import { grantTo, isGrantable } from './grants.js'
import { nextEra } from './shared-breaker.js'

export type BreakerSettings = Omit<BreakerPolicy, 'key'>

/** A breaker as the ledger has it: one that is open turns half-open by itself once `openUntilMs` has passed. */
export interface StoredBreaker {
  readonly name: string
  readonly state: BreakerState
  /** Null in a record of an earlier version. */
  readonly settings: BreakerSettings | null
}

export interface StoredBudget {
  readonly name: string
  /** The word it has for itself; null where it has none, or the record is of an earlier version. */
  readonly type: string | null
  /** The limits it was made with; null where they are not known. */
  readonly settings: Json
  /** Its own snapshot. */
  readonly state: Json
  readonly isGrantable: boolean
}

export interface StoredGates {
  readonly breakers: readonly StoredBreaker[]
  readonly budgets: readonly StoredBudget[]
}

export type GateAction = 'reset' | 'trip' | 'grant'

/** What was done, as the event `gate_changed` has it. */
export interface GateChange {
  /** Such as `breaker:mail`. */
  readonly gate: string
  readonly action: GateAction
  readonly reason: string
  readonly before: Json
  readonly after: Json
  /** What a grant really added. */
  readonly amount?: number
}

export interface TripOptions {
  readonly reason: string
  /** How long it stays open; the breaker's own time when absent. */
  readonly recoveryTimeoutMs?: number
}

/** By name. A gate is there once an attempt has been recorded that asked it. */
export async function listGates(ledger: Ledger): Promise<StoredGates> {
  const gates = (await ledger.gates()).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return {
    breakers: gates.filter(({ kind }) => kind === 'breaker').map((gate) => breakerOf(gate, ledger.name)),
    budgets: gates.filter(({ kind }) => kind === 'budget').map(budgetOf),
  }
}

/** Closes a breaker and forgets its failures, in all processes that use it. */
export async function resetBreaker(ledger: Ledger, name: string, reason: string): Promise<GateChange> {
  const why = reasonOf(reason)
  const after = { phase: 'closed', failures: 0, openUntilMs: null }
  return change(ledger, 'breaker', name, 'reset', why, () => ({ after }))
}

/** Opens a breaker in all processes that use it. Attempts that run are left alone. */
export async function tripBreaker(ledger: Ledger, name: string, options: TripOptions): Promise<GateChange> {
  expectOptions('tripBreaker', options, { recoveryTimeoutMs: [isPeriod, 'a number of milliseconds above 0'] }, [
    'reason',
  ])
  const why = reasonOf(options.reason)
  return change(ledger, 'breaker', name, 'trip', why, ({ state, settings }, now) => {
    const own = (settings as Partial<BreakerSettings> | undefined)?.recoveryTimeoutMs
    const openMs = options.recoveryTimeoutMs ?? own ?? defaultRecoveryMs()
    return { after: { phase: 'open', failures: failuresIn(state), openUntilMs: now + openMs } }
  })
}

/** Gives a budget more than it was made with: see `isGrantable`. */
export async function grantBudget(ledger: Ledger, name: string, amount: number, reason: string): Promise<GateChange> {
  const why = reasonOf(reason)
  if (!Number.isSafeInteger(amount) || amount < 1)
    throw new TypeError(`What is granted must be a whole number of 1 or more, such as 5: ${String(amount)} is not`)
  return change(ledger, 'budget', name, 'grant', why, (gate, now) => grantTo(name, gate, amount, now))
}

type Change = (gate: GateRecord, now: number) => { readonly after: Json; readonly amount?: number }

async function change(
  ledger: Ledger,
  kind: GateRecord['kind'],
  name: string,
  action: GateAction,
  reason: string,
  decide: Change,
): Promise<GateChange> {
  const key = `${kind}:${name}`
  const done = await ledger.transact({ tasks: [], gates: [key] }, (view: View): Decided<GateChange | undefined> => {
    const gate = view.gate(key)
    if (gate === undefined) return { result: undefined }
    const decided = decide(gate, view.now)
    const detail = { gate: key, action, reason, before: told(gate), ...decided }
    const event: LedgerEvent = { type: 'gate_changed', run: '', id: '', atMs: view.now, correlationId: '', detail }
    const state = kind === 'breaker' ? { ...(decided.after as object), ...nextEra(gate.state) } : decided.after
    const gates = [{ ...gate, state, decree: (gate.decree ?? 0) + 1 }]
    return { gates, events: [event], result: detail }
  })
  return done ?? unknown(ledger, kind, name)
}

/** What people want to know of it: whose result counts is for the breaker alone. */
function told({ kind, state }: GateRecord): Json {
  if (kind !== 'breaker' || typeof state !== 'object' || state === null || Array.isArray(state)) return state
  const { era: _era, probes: _probes, successes: _successes, ...rest } = state as Readonly<Record<string, Json>>
  return rest
}

async function unknown(ledger: Ledger, kind: GateRecord['kind'], name: string): Promise<never> {
  const gates = await ledger.gates()
  const names = gates.filter((gate) => gate.kind === kind).map(nameOfGate)
  const near = nearest(name, names)
  const none = `it has none: a ${kind} is recorded with the first attempt that asks it`
  const cure = near !== undefined ? `did you mean ${near}?` : names.length === 0 ? none : `it has ${some(names)}`
  throw new GateRefusedError('not_found', `There is no ${kind} ${JSON.stringify(name)} in ${ledger.name}: ${cure}`)
}

function some(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 10).join(', ')
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown
}

function nameOfGate({ key, kind }: GateRecord): string {
  return key.slice(kind.length + 1)
}

function breakerOf(gate: GateRecord, ledger: string): StoredBreaker {
  const name = nameOfGate(gate)
  const { phase, failures, openUntilMs } = (gate.state ?? {}) as Partial<BreakerState>
  const isSound = phase === 'closed' || ((phase === 'open' || phase === 'half_open') && typeof openUntilMs === 'number')
  if (!isSound || typeof failures !== 'number') {
    const said = JSON.stringify(gate.state)
    throw new LedgerError('corrupt', `The breaker ${name} in ${ledger} cannot be in the state ${said}: reset it`)
  }
  const settings = (gate.settings ?? null) as BreakerSettings | null
  return { name, state: { phase, failures, openUntilMs: openUntilMs ?? null }, settings }
}

function budgetOf(gate: GateRecord): StoredBudget {
  const { type = null, ...settings } = (gate.settings ?? {}) as { readonly type?: string }
  const known = gate.settings === undefined ? null : settings
  return { name: nameOfGate(gate), type, settings: known, state: gate.state, isGrantable: isGrantable(type) }
}

/** A breaker whose state is no good can still be tripped. */
function failuresIn(state: Json): number {
  const { failures } = (state ?? {}) as Partial<BreakerState>
  return Number.isSafeInteger(failures) && (failures as number) > 0 ? (failures as number) : 0
}

function defaultRecoveryMs(): number {
  return (normalizePolicy({ breaker: {} }).policy.breaker as BreakerPolicy).recoveryTimeoutMs
}

const isPeriod = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0

const MAX_REASON = 1000

/** Whoever finds the change later wants to know. */
function reasonOf(reason: unknown): string {
  const said = typeof reason === 'string' ? reason.trim() : ''
  if (said !== '' && said.length <= MAX_REASON) return said
  throw new TypeError(
    `A change by hand needs a reason of 1 to ${MAX_REASON} characters, such as "the provider is back"`,
  )
}
