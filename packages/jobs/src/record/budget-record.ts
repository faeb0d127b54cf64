/**
 * The retry budget of a job as the row of a gate, in the form of a `countBudget`: it is listed and granted by hand like
 * one. Read with checks. Imports the rules and the library's types.
 */
import type { GateRecord } from 'reprise/durable'
import type { EffectiveSettings } from '../rules/clamp.js'
import { newRetryBudget, type RetryBudgetState } from '../rules/retry-grant.js'
import { countIn, fieldsOf } from './damaged-record.js'

type Limits = Pick<
  EffectiveSettings,
  'retryBudget' | 'retryBudgetPerWorkflow' | 'maxDispatchAttempts' | 'onBudgetExhausted' | 'retryBudgetCounts'
>

export interface BudgetRecord {
  readonly state: RetryBudgetState
  readonly limits: Limits
}

export function newBudgetGate(key: string, settings: EffectiveSettings): GateRecord {
  return budgetGate(key, newRetryBudget(settings.retryBudget), settings)
}

export function budgetGate(key: string, state: RetryBudgetState, limits: Limits): GateRecord {
  const { used, grants, refunds, probeIntervalMs, nextProbeAtMs } = state
  const { retryBudget, retryBudgetPerWorkflow, maxDispatchAttempts, onBudgetExhausted, retryBudgetCounts } = limits
  return {
    key,
    kind: 'budget',
    state: { used, keys: [], grants, refunds, probeIntervalMs, nextProbeAtMs },
    settings: {
      type: 'count',
      total: retryBudget,
      perWorkflow: retryBudgetPerWorkflow,
      maxDispatchAttempts,
      onExhausted: onBudgetExhausted,
      counts: retryBudgetCounts,
    },
  }
}

/** What was granted by hand raises the limit. */
export function budgetOf(gate: GateRecord): BudgetRecord {
  const what = gate.key
  const state = fieldsOf(gate.state, what)
  const settings = fieldsOf(gate.settings, what)
  const granted = state['granted'] === undefined ? 0 : countIn(state, 'granted', what)
  const ceiling = settings['maxDispatchAttempts']
  return {
    state: {
      total: countIn(settings, 'total', what) + granted,
      used: countIn(state, 'used', what),
      grants: countIn(state, 'grants', what),
      refunds: countIn(state, 'refunds', what),
      probeIntervalMs: countIn(state, 'probeIntervalMs', what),
      nextProbeAtMs: typeof state['nextProbeAtMs'] === 'number' ? state['nextProbeAtMs'] : 0,
    },
    limits: {
      retryBudget: countIn(settings, 'total', what),
      retryBudgetPerWorkflow: countIn(settings, 'perWorkflow', what),
      maxDispatchAttempts: typeof ceiling === 'number' ? ceiling : null,
      onBudgetExhausted: settings['onExhausted'] === 'park' ? 'park' : 'fail',
      retryBudgetCounts: settings['counts'] === 'wasted' ? 'wasted' : 'all',
    },
  }
}

/** The same row with another state; what was granted by hand stays. */
export function withBudgetState(gate: GateRecord, state: RetryBudgetState): GateRecord {
  const { used, grants, refunds, probeIntervalMs, nextProbeAtMs } = state
  const kept = fieldsOf(gate.state, gate.key)
  return { ...gate, state: { ...kept, used, grants, refunds, probeIntervalMs, nextProbeAtMs } }
}
