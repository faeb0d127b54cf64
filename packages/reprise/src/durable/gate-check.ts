/** I4 and I9 for budgets and breakers, as far as their records show them. Pure. Imports the ledger's types and core's. */
import type { BreakerPolicy } from '../core/policy.js'
import type { GateRecord, ProbeSlot } from '../ledger/records.js'
import type { Fault } from './ledger-check.js'
import type { SharedBreakerState } from './shared-breaker.js'

const PHASES = ['closed', 'open', 'half_open']

export function faultsOfGate(gate: GateRecord): Fault[] {
  if (gate.kind === 'record') return []
  if (gate.kind === 'queue') return queueFaults(gate)
  return gate.kind === 'breaker' ? breakerFaults(gate) : budgetFaults(gate)
}

/** I9: a breaker that lost its state would let everything through. */
function breakerFaults({ state }: GateRecord): Fault[] {
  const { phase, failures, openUntilMs } = (state ?? {}) as Partial<SharedBreakerState>
  const faults: Fault[] = []
  if (!PHASES.includes(phase as string)) faults.push(['I9', `its state is ${JSON.stringify(phase)}`])
  if (!isCount(failures)) faults.push(['I9', `it counts ${JSON.stringify(failures)} failures`])
  if (phase === 'open' && typeof openUntilMs !== 'number')
    faults.push(['I9', 'it is open, and has no time to try again'])
  return faults
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

/** I9: a limit that cannot be read would let everything through. */
function queueFaults({ state }: GateRecord): Fault[] {
  const { most } = (state ?? {}) as { readonly most?: unknown }
  return most === undefined || isCount(most) ? [] : [['I9', `its limit is ${JSON.stringify(most)}`]]
}

/** I4: a count is never above its limit and what was granted by hand. */
function budgetFaults({ state, settings }: GateRecord): Fault[] {
  const { used, granted = 0 } = (state ?? {}) as { readonly used?: unknown; readonly granted?: number }
  if (used === undefined) return []
  if (!isCount(used)) return [['I4', `it has used ${JSON.stringify(used)}`]]
  const { total } = (settings ?? {}) as { readonly total?: unknown }
  if (typeof total !== 'number' || used <= total + granted) return []
  return [['I4', `it has used ${used}, of ${total + granted} allowed`, used - total - granted]]
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
