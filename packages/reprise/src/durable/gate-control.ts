/**
 * Budgets and breakers of a ledger by hand: to look at them, and to change them from a process that uses none of them.
 * Imports core and the ledger's port.
 *
 * Invariants: a change is one transaction on one gate, and leaves an event that says why. Processes that use the gate have
 * it with their next transaction. It raises the gate's `manualRevision`, which says that what they find is somebody's word, and begins
 * a new epoch of a breaker: what was begun before it is not counted any more.
 */
import type { BreakerState } from '../core/breaker.js'
import { parseDuration } from '../core/duration.js'
import { normalizePolicy } from '../core/normalize.js'
import { durationCheck, expectOptions, type OptionCheck } from '../core/options.js'
import type { BreakerPolicy, DurationInput } from '../core/policy.js'
import { nearest } from '../core/suggest.js'
import type { Decided, Ledger, View } from '../ledger/ledger.js'
import type { GateRecord, Json, LedgerEvent } from '../ledger/records.js'
import { type Actor, ACTOR, actorOf } from './actor.js'
import { GateRefusedError } from './errors.js'
import { gateFaults } from './gate-check.js'
import { grantTo, isGrantable } from './grants.js'
import { gateSinceSetBack } from './clock-step.js'
import { nextEra, type SharedBreakerState } from './shared-breaker.js'

type BreakerSettings = Omit<BreakerPolicy, 'key'>

/** A breaker as the ledger has it: one that is open turns half-open by itself once `openUntilMs` has passed. */
export interface StoredBreaker {
  /** Its key. */
  readonly name: string
  /** Its phase and its failures. */
  readonly state: BreakerState
  /** When an attempt that counts last failed; null if none has, or the record is of an earlier version. */
  readonly lastFailureAtMs: number | null
  /** Null in a record of an earlier version. */
  readonly settings: BreakerSettings | null
}

/** A budget as the ledger has it. */
export interface StoredBudget {
  /** The name that policies use. */
  readonly name: string
  /** The word it has for itself; null where it has none, or the record is of an earlier version. */
  readonly type: string | null
  /** The limits it was made with; null where they are not known. */
  readonly settings: Json
  /** Its own snapshot. */
  readonly state: Json
  /** Whether `grantBudget` can give it more. */
  readonly isGrantable: boolean
}

/** All recorded breakers and budgets. */
export interface StoredGates {
  /** By name. */
  readonly breakers: readonly StoredBreaker[]
  /** By name. */
  readonly budgets: readonly StoredBudget[]
}

type GateAction = 'reset' | 'trip' | 'grant' | 'limit' | 'pace' | 'pause' | 'continue'

/** What was done, as the event `gate_changed` has it. */
export interface GateChange {
  /** Such as `breaker:mail`. */
  readonly gate: string
  /** What was done. */
  readonly action: GateAction
  /** Why, as it was given. */
  readonly reason: string
  /** Who asked for it, as it was given; absent if nobody said so. */
  readonly by?: string
  /** The state before. */
  readonly before: Json
  /** The state after. */
  readonly after: Json
  /** What a grant really added. */
  readonly amount?: number
}

/** Options of `resetBreaker` and `resetBudget`. */
export interface ResetOptions {
  /** Why, for whoever finds the change later: 1 to 1000 characters. */
  readonly reason: string
}

/** Options of `grantBudget`. */
export interface GrantOptions {
  /** Why, for people who find the change later: 1 to 1000 characters. */
  readonly reason: string
  /** How much more the budget is given: a whole number of 1 or more. */
  readonly amount: number
}

/** Options of `tripBreaker`. */
export interface TripOptions {
  /** Why, for people who find the change later: 1 to 1000 characters. */
  readonly reason: string
  /**
   * How long the breaker stays open: above 0 ms.
   * @default the breaker's own recovery timeout
   * @example { recoveryTimeout: '10m' }
   */
  readonly recoveryTimeout?: DurationInput
}

/**
 * The recorded breakers and budgets, by name. One is recorded with the first attempt that asks it. Rejects with a
 * `GateRefusedError` that names every gate whose record cannot be.
 * @example const { breakers, budgets } = await listGates(ledger)
 */
export async function listGates(ledger: Ledger): Promise<StoredGates> {
  const [stored, now] = [await ledger.gates(), await ledger.now()]
  const gates = stored.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((gate) => gateSinceSetBack(gate, now))
  expectSoundGates(ledger, gates)
  return {
    breakers: gates.filter(({ kind }) => kind === 'breaker').map(breakerOf),
    budgets: gates.filter(({ kind }) => kind === 'budget').map(budgetOf),
  }
}

/**
 * Closes a breaker and forgets its failures, in all processes that use it. Rejects with a `GateRefusedError` if there
 * is none of this name.
 * @example await resetBreaker(ledger, 'mail', { reason: 'the provider is back' })
 */
export async function resetBreaker(ledger: Ledger, name: string, options: ResetOptions): Promise<GateChange> {
  const why = reasonIn('resetBreaker', options)
  const after = { phase: 'closed', failures: 0, openUntilMs: null }
  return change(ledger, 'breaker', name, 'reset', why, () => ({ after }))
}

/**
 * Forgets what a budget has used and was granted, in all processes that use it: it is as it was made. Also for a budget
 * whose record cannot be. Rejects with a `GateRefusedError` if there is none of this name.
 * @example await resetBudget(ledger, 'api', { reason: 'its record was damaged' })
 */
export async function resetBudget(ledger: Ledger, name: string, options: ResetOptions): Promise<GateChange> {
  const why = reasonIn('resetBudget', options)
  return change(ledger, 'budget', name, 'reset', why, () => ({ after: null }))
}

/**
 * Opens a breaker in all processes that use it. Attempts that run are left alone. Rejects with a `GateRefusedError` if
 * there is none of this name.
 * @example await tripBreaker(ledger, 'mail', { reason: 'maintenance', recoveryTimeout: '30m' })
 */
export async function tripBreaker(ledger: Ledger, name: string, options: TripOptions): Promise<GateChange> {
  const why = reasonIn('tripBreaker', options, {
    recoveryTimeout: durationCheck("a duration above 0ms such as '1m'", Number.MIN_VALUE),
  })
  const given = options.recoveryTimeout
  return change(ledger, 'breaker', name, 'trip', why, ({ state, settings }, now) => {
    const own = (settings as Partial<BreakerSettings> | null | undefined)?.recoveryTimeoutMs
    const isKnown = typeof own === 'number' && own >= 0
    const openMs = given === undefined ? (isKnown ? own : defaultRecoveryMs()) : parseDuration(given)
    return { after: { phase: 'open', failures: failuresIn(state), openUntilMs: now + openMs, openedAtMs: now } }
  })
}

/**
 * Gives a budget more than it was made with: see `isGrantable`. Rejects with a `GateRefusedError` if it cannot be given
 * any.
 * @example await grantBudget(ledger, 'api', { reason: 'quota raised', amount: 100 })
 */
export async function grantBudget(ledger: Ledger, name: string, options: GrantOptions): Promise<GateChange> {
  const why = reasonIn(
    'grantBudget',
    options,
    { amount: [isCount, 'a whole number of 1 or more, such as 5'] },
    'amount',
  )
  const { amount } = options
  return change(ledger, 'budget', name, 'grant', why, (gate, now) => {
    expectSoundGates(ledger, [gate])
    return grantTo(name, gate, amount, now)
  })
}

/** What a change by hand makes of a gate. */
type Change = (gate: GateRecord, now: number) => { readonly after: Json; readonly amount?: number }

function change(
  ledger: Ledger,
  kind: GateRecord['kind'],
  name: string,
  action: GateAction,
  reason: string,
  decide: Change,
): Promise<GateChange> {
  return changeGate(ledger, `${kind}:${name}`, action, { reason }, decide)
}

/** One transaction on one gate, with its event. Rejects with a `GateRefusedError` if there is no such gate. */
export async function changeGate(
  ledger: Ledger,
  key: string,
  action: GateAction,
  actor: Actor,
  decide: Change,
): Promise<GateChange> {
  const [kind, name] = [key.slice(0, key.indexOf(':')) as GateRecord['kind'], key.slice(key.indexOf(':') + 1)]
  // No store has such a key, and PostgreSQL takes no U+0000 in what it is asked.
  if (/[\0\p{Cs}]/u.test(name)) return unknown(ledger, kind, name)
  const done = await ledger.transact({ tasks: [], gates: [key] }, (view: View): Decided<GateChange | undefined> => {
    const gate = view.gate(key)
    if (gate === undefined) return { result: undefined }
    const decided = decide(gate, view.now)
    const after = told({ ...gate, state: decided.after })
    const detail = { gate: key, action, ...actorOf(actor), before: told(gate), ...decided, after }
    const concerned = { scopeKind: '', scope: '', id: '' } as const
    const event: LedgerEvent = { type: 'gate_changed', ...concerned, atMs: view.now, correlationId: '', detail }
    const state =
      kind === 'breaker'
        ? { ...(decided.after as object), ...nextEra(gate.state), ...lastFailureIn(gate.state) }
        : decided.after
    const gates = [withSoundSettings({ ...gate, state, manualRevision: (gate.manualRevision ?? 0) + 1 })]
    return { gates, events: [event], result: detail }
  })
  return done ?? unknown(ledger, kind, name)
}

/** Limits that cannot be go with the state that cannot be: the next attempt writes those of its policy. */
function withSoundSettings(gate: GateRecord): GateRecord {
  if (gateFaults(gate).length === 0) return gate
  const { settings: _settings, ...rest } = gate
  return gateFaults(rest).length === 0 ? rest : gate
}

/** Refuses gates whose records cannot be, and names all of them. */
export function expectSoundGates(ledger: Pick<Ledger, 'name'>, gates: readonly GateRecord[]): void {
  const damaged = gates.filter((gate) => gateFaults(gate).length > 0)
  if (damaged.length === 0) return
  const said = damaged.map((gate) => `${gate.kind} ${nameOfGate(gate)} (${gateFaults(gate).join('; ')})`)
  const message = `The records of these gates in ${ledger.name} are invalid, and nothing was changed: ${said.join(', ')}`
  const keys = damaged.map(({ key }) => key)
  throw new GateRefusedError('state_refused', `${message}. Reset them, or restore the store from a backup`, keys)
}

/** What people want to know of it: whose result counts is for the breaker alone, the level of a rate for the queue. */
function told({ kind, state }: GateRecord): Json {
  if (kind === 'budget' || typeof state !== 'object' || state === null || Array.isArray(state)) return state
  const {
    epoch: _epoch,
    probes: _probes,
    successes: _successes,
    bucket: _bucket,
    openedAtMs: _openedAtMs,
    lastFailureAtMs: _lastFailureAtMs,
    ...rest
  } = state as Readonly<Record<string, Json>>
  return rest
}

const UNLIMITED_QUEUE = 'a program that registers its tasks with `most` or `rate` makes it'

async function unknown(ledger: Ledger, kind: GateRecord['kind'], name: string): Promise<never> {
  const gates = await ledger.gates()
  const names = gates.filter((gate) => gate.kind === kind).map(nameOfGate)
  const near = nearest(name, names)
  const none = kind === 'queue' ? UNLIMITED_QUEUE : `a ${kind} is recorded with the first attempt that asks it`
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

function breakerOf(gate: GateRecord): StoredBreaker {
  const { phase, failures, openUntilMs, lastFailureAtMs = null } = gate.state as unknown as SharedBreakerState
  const settings = (gate.settings ?? null) as BreakerSettings | null
  const state = { phase, failures, openUntilMs: openUntilMs ?? null }
  return { name: nameOfGate(gate), state, lastFailureAtMs, settings }
}

function budgetOf(gate: GateRecord): StoredBudget {
  const { type = null, ...settings } = (gate.settings ?? {}) as { readonly type?: string }
  const known = gate.settings === undefined ? null : settings
  return { name: nameOfGate(gate), type, settings: known, state: gate.state, isGrantable: isGrantable(type) }
}

/** Kept over a change by hand: what happened is no less true. */
function lastFailureIn(state: Json): Pick<SharedBreakerState, 'lastFailureAtMs'> {
  const { lastFailureAtMs } = (state ?? {}) as Partial<SharedBreakerState>
  return typeof lastFailureAtMs === 'number' ? { lastFailureAtMs } : {}
}

/** A breaker whose state is no good can still be tripped. */
function failuresIn(state: Json): number {
  const { failures } = (state ?? {}) as Partial<BreakerState>
  return Number.isSafeInteger(failures) && (failures as number) > 0 ? (failures as number) : 0
}

function defaultRecoveryMs(): number {
  return (normalizePolicy({ breaker: {} }).policy.breaker as BreakerPolicy).recoveryTimeoutMs
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1

/** Checks the options of a change, all of which have a reason. */
function reasonIn(
  subject: string,
  options: ResetOptions,
  checks: Readonly<Record<string, OptionCheck>> = {},
  ...required: string[]
): string {
  expectOptions(subject, options, { reason: ACTOR.reason, ...checks }, { required: ['reason', ...required] })
  return options.reason.trim()
}
