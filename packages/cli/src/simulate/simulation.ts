/**
 * A storm, taken through by the policy under test and those it is compared with, as data. `--json` prints exactly this.
 * Invariant: the same arguments give the same data, to the last digit. Imports the simulator.
 */
import { type Report, simulate, type Subject } from 'reprise/simulate'
import { refuseScenario, type ScenarioFlags, type StormScenario } from '../input/scenario-flags.js'
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
  readonly scenario: StormScenario
  readonly seed: number
  /** The policy under test in a line. */
  readonly summary: string
  readonly policies: readonly [SimulatedPolicy, ...SimulatedPolicy[]]
  readonly verdict: readonly string[]
  readonly notes: readonly string[]
}

export function runSimulation(
  { scenario, seed, notes }: ScenarioFlags,
  under: UnderTest,
  compared: readonly Subject[],
  onProgress: (name: string, number: number, of: number) => void,
): Simulation {
  const run = (subject: Subject, index: number): SimulatedPolicy => {
    onProgress(subject.name, index + 1, compared.length + 1)
    const report = simulateOne(scenario, subject, seed)
    const { name, ...figures } = report
    return { name, title: subject.title ?? name, isSubject: index === 0, ...figures }
  }
  const policies = [run(under.subject, 0), ...compared.map((subject, index) => run(subject, index + 1))] as const
  return {
    scenario,
    seed,
    summary: under.summary,
    policies,
    verdict: verdictOn(scenario, policies),
    notes: [...notes, ...under.notes, ...notesOn(under.policy, scenario)],
  }
}

function simulateOne(scenario: StormScenario, subject: Subject, seed: number): Report {
  try {
    return simulate(scenario, subject, seed)
  } catch (error) {
    return refuseScenario(error)
  }
}
