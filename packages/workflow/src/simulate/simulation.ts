/**
 * A storm, taken through by the policy under test and those it is compared with, as data. `--json` prints exactly this.
 * Invariant: the same arguments give the same data, to the last digit. Imports the simulator.
 */
import { type Report, type ScenarioInput, simulate, type Subject } from 'reprise/simulate'
import { type CompleteScenario, completeScenario } from 'reprise/internal/simulate'
import type { FieldWords } from './field-words.js'
import { notesOn } from './notes.js'
import type { UnderTest } from './under-test.js'
import { verdictOn } from './verdict.js'

/** The simulator's report, and whose it is. */
export interface SimulatedPolicy extends Report {
  readonly title: string
  /** Whether it is the one under test; it comes first. */
  readonly isSubject: boolean
}

export interface Simulation {
  /** Complete: `simulate(scenario, …, seed)` of the library gives the same figures. */
  readonly scenario: CompleteScenario
  readonly seed: number
  /** The policy under test in a line. */
  readonly summary: string
  readonly policies: readonly [SimulatedPolicy, ...SimulatedPolicy[]]
  readonly verdict: readonly string[]
  readonly notes: readonly string[]
}

export interface SimulationInput {
  readonly scenario: ScenarioInput
  readonly seed: number
  readonly under: UnderTest
  readonly compared: readonly Subject[]
  readonly words: FieldWords
}

/** Throws an `OptionsError` if the scenario cannot be simulated. */
export function runSimulation(
  { scenario: given, seed, under, compared, words }: SimulationInput,
  onProgress: (name: string, number: number, of: number) => void,
): Simulation {
  const scenario = completeScenario(given)
  const run = (subject: Subject, index: number): SimulatedPolicy => {
    onProgress(subject.name, index + 1, compared.length + 1)
    const { name, ...figures } = simulate(scenario, subject, seed)
    return { name, title: subject.title ?? name, isSubject: index === 0, ...figures }
  }
  const policies = [run(under.subject, 0), ...compared.map((subject, index) => run(subject, index + 1))] as const
  const isAmountUnused = given.amount !== undefined && scenario.amount === undefined
  return {
    scenario,
    seed,
    summary: under.summary,
    policies,
    verdict: verdictOn(scenario, policies),
    notes: [
      ...(isAmountUnused ? [`\`${words('amount')}\` has no effect on the fault ${scenario.fault}.`] : []),
      ...under.notes,
      ...notesOn(under.policy, scenario, words),
    ],
  }
}
