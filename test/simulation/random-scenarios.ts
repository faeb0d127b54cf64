/**
 * E3: no scenario, whatever it is, leaves the system overloaded after its fault has ended. Scenarios come from a number,
 * so that one that fails can be run again alone. Imports the library.
 */
import { type Report, type ScenarioInput, simulate, type Subject } from 'reprise/simulate'
import { seededRandom } from 'reprise/testing'
import { type Extent, type Finding, sized } from './goals.js'

const FAULTS = ['hang', 'refuse', 'capacity', 'slow', 'errors', 'flap'] as const

/** Faults of 5–90 s, load 0.3–0.9, 1–1000 clients, answers in 5–65 ms. */
function randomScenario(seed: number): ScenarioInput {
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1))
  const between = (least: number, most: number): number => least + (most - least) * random()
  const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? 'hang'
  const amounts = { capacity: between(0.1, 0.7), slow: between(2, 10), errors: between(0.1, 1) }
  return {
    fault,
    ...(fault in amounts && { amount: amounts[fault as keyof typeof amounts] }),
    clients: Math.round(10 ** between(0, 3)),
    load: between(0.3, 0.9),
    before: '20s',
    during: Math.round(between(5000, 90_000)),
    after: '60s',
    serviceTime: Math.round(between(5, 65)),
  }
}

/** What simpler rules have failed at: a thousand clients with about a call a second on a busy server. */
export const TINY_CLIENTS = [20261181, 20261346, 20261387]

export interface Aftermath {
  readonly seed: number
  readonly scenario: ScenarioInput
  readonly recoveryMs: number | null
  /** Share of the calls in the minute after the fault that succeed. */
  readonly after: number
}

export function aftermath(subject: Subject, seed: number, extent: Extent): Aftermath {
  const scenario = sized(randomScenario(seed), extent)
  const { recoveryMs, success }: Report = simulate(scenario, subject, seed)
  return { seed, scenario, recoveryMs, after: success.after }
}

export function judge(subject: string, runs: readonly Aftermath[], hasBulkhead: boolean): Finding[] {
  const stuck = runs.filter((run) => run.recoveryMs === null).length
  const shares = runs.map((run) => run.after)
  const mean = shares.reduce((sum, share) => sum + share, 0) / runs.length
  const finding = (what: string, figure: number, limit: Finding['limit']): Finding => ({
    goal: 'E3',
    subject,
    what: `${runs.length} random scenarios: ${what}`,
    figure,
    limit,
  })
  const recovered = finding('do not recover', stuck, { most: 0 })
  if (!hasBulkhead) return [recovered]
  return [
    recovered,
    finding('success in the minute after, mean', mean, { least: 0.99 }),
    finding('success in the minute after, worst run', Math.min(...shares), { least: 0.97 }),
  ]
}
