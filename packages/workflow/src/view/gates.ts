/**
 * Breakers and budgets of a ledger, as they are shown to people. Imports the library and the views.
 */
import { type Json, type Ledger, listGates, type StoredBreaker } from 'reprise/durable'
import type { BreakerView, BudgetView } from './views.js'

/** By name, as they are at `now`, on the ledger's clock: one that is open turns half-open with time alone. */
export async function breakerViews(ledger: Ledger, now: number): Promise<readonly BreakerView[]> {
  const { breakers } = await listGates(ledger)
  return breakers.map((breaker) => breakerView(breaker, now))
}

function breakerView({ name, state, lastFailureAtMs, settings }: StoredBreaker, now: number): BreakerView {
  const { phase, failures, openUntilMs } = state
  const isOver = phase === 'open' && openUntilMs !== null && now >= openUntilMs
  return {
    name,
    state: isOver ? 'half_open' : phase,
    failures,
    failureThreshold: settings?.failureThreshold ?? null,
    halfOpenAtMs: openUntilMs,
    lastFailureAtMs,
  }
}

/** By name. What a budget was made with stands beside what has become of it. */
export async function budgetViews(ledger: Ledger): Promise<readonly BudgetView[]> {
  const { budgets } = await listGates(ledger)
  return budgets.map(({ name, type, settings, state }) => ({ name, type, state: figuresOf(settings, state) }))
}

/** One made of others has theirs in a list, in the same order. */
function figuresOf(settings: Json, state: Json): Json {
  if (!isObject(settings)) return state
  // Reset by hand, it is as it was made.
  if (state === null) return settings
  if (isObject(state)) return { ...settings, ...state }
  const { members } = settings
  if (!isList(members) || !isList(state)) return state
  return { ...settings, members: state.map((own, index) => figuresOf(members[index] ?? null, own)) }
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
