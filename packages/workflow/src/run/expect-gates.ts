/**
 * That the gates of a plan can be used, those of its maps' lanes too, before anything of its run is begun: their rows can be, and its budgets can take in
 * what is recorded of them. Imports the library, the plan and its gates.
 */
import type { GateRecord, Ledger } from 'reprise/durable'
import { GateRefusedError } from 'reprise/durable'
import { expectSoundGates, queueKey } from 'reprise/internal'
import { mapsOf, type Plan, stepsOf } from '../plan/plan.js'
import { budgetsOf, policyFor } from './gates.js'

/** Throws a `GateRefusedError` that names every gate of the plan that cannot be used. */
export async function expectUsableGates(ledger: Ledger, plan: Plan, runId: string): Promise<void> {
  const keys = gateKeys(plan, runId)
  const hasMaps = mapsOf(plan).length > 0
  if (keys.size === 0 && !hasMaps) return
  // The lanes of its maps have gates of their own.
  const lanes = queueKey(`${runId}/`)
  const gates = (await ledger.gates()).filter(({ key }) => keys.has(key) || (hasMaps && key.startsWith(lanes)))
  expectSoundGates(ledger, gates)
  const budgets = budgetsOf(plan, runId)
  for (const gate of gates) {
    // It is made for this look alone.
    const budget = gate.kind === 'budget' ? budgets.get(gate.key.slice('budget:'.length)) : undefined
    if (budget?.restore !== undefined && gate.state !== null) expectTakesIn(budget.restore.bind(budget), gate, ledger)
  }
}

function expectTakesIn(restore: (state: unknown) => void, { key, state }: GateRecord, { name }: Ledger): void {
  try {
    restore(state)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const gate = key.replace(':', ' ')
    const message = `The record of ${gate} in ${name} is invalid (${why}); nothing was changed. Reset it`
    throw new GateRefusedError('state_refused', message, [key])
  }
}

/** Keys of all budgets and breakers that steps and items of the plan name. */
function gateKeys(plan: Plan, runId: string): ReadonlySet<string> {
  const keys = new Set<string>()
  const policies = [...stepsOf(plan), ...mapsOf(plan)].map(({ id, policy }) => ({
    id,
    ...policyFor(policy, plan, runId),
  }))
  for (const { budget, breaker, id } of policies) {
    const named = typeof budget === 'string' ? budget : budget?.name
    if (named !== undefined) keys.add(`budget:${named}`)
    if (breaker !== undefined) keys.add(`breaker:${breaker.key ?? id}`)
  }
  return keys
}

/** The session, which is closed where the check rejects. */
export async function orClosed<T extends { close(): Promise<void> }>(session: T, check: Promise<void>): Promise<T> {
  try {
    await check
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}
