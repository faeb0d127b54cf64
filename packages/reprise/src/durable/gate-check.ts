/** I4 and I9 for budgets and breakers, as far as their records show them. Pure. Imports the ledger's types and core's. */
import { adaptiveBudget } from '../core/budgets/adaptive.js'
import { concurrencyBudget } from '../core/budgets/concurrency.js'
import { countBudget } from '../core/budgets/count.js'
import { ratioBudget } from '../core/budgets/ratio.js'
import { tokenBucket } from '../core/budgets/token-bucket.js'
import type { BreakerPolicy } from '../core/policy.js'
import { isJsonObject, shownJson } from '../ledger/json-shape.js'
import type { GateRecord, Json, ProbeSlot } from '../ledger/records.js'
import type { Fault } from './ledger-check.js'
import type { SharedBreakerState } from './shared-breaker.js'

const PHASES: ReadonlySet<unknown> = new Set(['closed', 'open', 'half_open'])

/** As `reprise doctor` tells it. */
export function faultsOfGate(gate: GateRecord): Fault[] {
  const rule = gate.kind === 'budget' ? 'I4' : 'I9'
  const shape = gateFaults(gate).map((message): Fault => [rule, message])
  return shape.length > 0 || gate.kind !== 'budget' ? shape : excessFaults(gate)
}

/**
 * What of the record cannot be, in sentences: a gate that lost its state would let everything through, so it is not used.
 * Rows that a package keeps for itself are the package's to check, and the state of a budget that a program has written is
 * its budget's.
 */
export function gateFaults({ kind, state, settings = null }: GateRecord): string[] {
  if (kind === 'breaker') return [...breakerFaults(state), ...settingsFaults(settings, BREAKER_SETTINGS)]
  if (kind === 'queue') return [...queueFaults('', state), ...queueFaults('settings.', settings ?? {})]
  return kind === 'budget' ? budgetFaults(state, settings) : []
}

function breakerFaults(state: Json): string[] {
  if (!isJsonObject(state)) return [noObject('state', state)]
  const { phase, failures, openUntilMs, epoch, probes, successes } = state
  const faults: string[] = []
  if (!PHASES.has(phase)) faults.push(`its state is ${shown(phase)}`)
  if (!isWhole(failures)) faults.push(`it counts ${shown(failures)} failures`)
  const until = openUntilMs ?? null
  if (until !== null && !isNumber(until)) faults.push(`openUntilMs is ${shown(until)}, which is not a time`)
  if (until === null && (phase === 'open' || phase === 'half_open'))
    faults.push('it is open, and has no time to try again')
  for (const name of ['openedAtMs', 'lastFailureAtMs']) {
    const value = state[name]
    if (value !== undefined && !isNumber(value)) faults.push(`${name} is ${shown(value)}, which is not a time`)
  }
  // Records of earlier versions have none of the three.
  if (epoch === undefined) return faults
  for (const [name, value] of Object.entries({ epoch, probes, successes }))
    if (!isWhole(value)) faults.push(`${name} is ${shown(value)}`)
  return faults
}

/** Of the limits that a breaker was made with, which changes by hand and pages go by. */
const BREAKER_SETTINGS = ['failureThreshold', 'recoveryTimeoutMs', 'halfOpenMaxCalls'] as const

function settingsFaults(settings: Json, names: readonly string[]): string[] {
  if (settings === null) return []
  if (!isJsonObject(settings)) return [noObject('settings', settings)]
  return names.flatMap((name) => {
    const value = settings[name]
    return value === undefined || (isNumber(value) && value >= 0) ? [] : [`settings.${name} is ${shown(value)}`]
  })
}

/** A limit that cannot be read would let everything through. */
function queueFaults(place: string, state: Json): string[] {
  if (!isJsonObject(state)) return [noObject(place === '' ? 'state' : 'settings', state)]
  const { most, paused, closed, servers, rate, bucket } = state
  const faults: string[] = []
  if (most !== undefined && !isWhole(most)) faults.push(`its limit is ${shown(most)}`)
  for (const [name, value] of Object.entries({ paused, closed }))
    if (value !== undefined && typeof value !== 'boolean') faults.push(`${place}${name} is ${shown(value)}`)
  if (servers !== undefined && !(isJsonObject(servers) && Object.values(servers).every(isWhole)))
    faults.push(`the processes that serve it are ${shown(servers)}`)
  if (rate !== undefined && !(isJsonObject(rate) && isPositive(rate['perSecond']) && isPositive(rate['burst'])))
    faults.push(`its rate is ${shown(rate)}`)
  if (bucket !== undefined && !(isJsonObject(bucket) && isNumber(bucket['tokens']) && isNumber(bucket['atMs'])))
    faults.push(`what is left of its rate is ${shown(bucket)}`)
  return faults
}

/** Of budgets whose records this version knows. A program's own budget says itself whether it can read its state. */
function budgetFaults(state: Json, settings: Json): string[] {
  if (settings === null) return []
  if (!isJsonObject(settings)) return [noObject('settings', settings)]
  const { type } = settings
  if (type !== undefined && typeof type !== 'string') return [`settings.type is ${shown(type)}`]
  // Reset by hand, it is as it was made.
  if (type === undefined || state === null || !Object.hasOwn(BUILT_IN, type)) return []
  const { limits, make } = BUILT_IN[type] as BuiltIn
  const faults = settingsFaults(settings, limits)
  try {
    make().restore(state)
    return faults
  } catch (error) {
    return [...faults, `its state cannot be (${(error as Error).message})`]
  }
}

interface BuiltIn {
  /** Fields of its settings that are numbers, and that changes by hand go by. */
  readonly limits: readonly string[]
  /** Any one of its type: whether a state can be does not depend on its limits. */
  readonly make: () => { restore(state: unknown): void }
}

const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  count: { limits: ['total', 'perKey'], make: () => countBudget({ total: 0 }) },
  token_bucket: {
    limits: ['capacity', 'refillPerSecond'],
    make: () => tokenBucket({ capacity: 1, refillPerSecond: 0 }),
  },
  ratio: { limits: [], make: () => ratioBudget() },
  concurrency: { limits: [], make: () => concurrencyBudget({ max: 1 }) },
  adaptive: { limits: [], make: () => adaptiveBudget() },
}

/** I9: every slot of a half-open breaker is held by a recorded attempt, and there are no more than it has. */
export function faultsOfSlots({ kind, key, state, settings }: GateRecord, slots: readonly ProbeSlot[]): Fault[] {
  const { phase, epoch, probes } = (state ?? {}) as Partial<SharedBreakerState>
  // Records of earlier versions count no slots.
  if (kind !== 'breaker' || phase !== 'half_open' || probes === undefined) return []
  const held = slots.filter((slot) => `breaker:${slot.breaker}` === key && slot.epoch === epoch).length
  const { halfOpenMaxCalls = Infinity } = (settings ?? {}) as Partial<BreakerPolicy>
  const faults: Fault[] = []
  if (probes !== held) faults.push(['I9', `${probes} probes are counted, and ${held} attempts are probes`])
  if (probes > halfOpenMaxCalls) faults.push(['I9', `${probes} probes are counted, of ${halfOpenMaxCalls} allowed`])
  return faults
}

/** I4: a count is never above its limit and what was granted by hand. */
function excessFaults({ state, settings }: GateRecord): Fault[] {
  const { used, granted = 0 } = (state ?? {}) as { readonly used?: unknown; readonly granted?: number }
  const { total } = (settings ?? {}) as { readonly total?: unknown }
  if (!isNumber(used) || !isNumber(total) || used <= total + granted) return []
  return [['I4', `it has used ${used}, of ${total + granted} allowed`, used - total - granted]]
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isPositive(value: unknown): boolean {
  return isNumber(value) && value > 0
}

function noObject(what: string, value: unknown): string {
  return `its ${what} is ${shown(value)}, which is no object`
}

/** Texts in quotes, so that "-3" is told apart from -3. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(shownJson(value)) : shownJson(value)
}
