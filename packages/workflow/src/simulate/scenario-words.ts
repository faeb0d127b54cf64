/** A scenario in words. Imports durations and numbers. */
import { formatDuration } from 'reprise'
import type { FaultKind, ScenarioInput } from 'reprise/simulate'
import type { CompleteScenario } from 'reprise/internal/simulate'
import { plainNumber } from '../words/figures.js'

/** What happens to the server. */
const FAULTS: Readonly<Record<FaultKind, (amount: number, time: string) => string>> = {
  none: () => 'to which nothing happens',
  hang: (_, time) => `which hangs for ${time}`,
  refuse: (_, time) => `which refuses everything for ${time}`,
  capacity: (amount, time) => `which can do ${given(amount)} of that for ${time}`,
  slow: (amount, time) => `which takes ${plainNumber(amount)} times as long for ${time}`,
  errors: (amount, time) => `which fails ${given(amount)} of the calls for ${time}`,
  flap: (_, time) => `which hangs by turns of 2s, for ${time}`,
  overload: (amount, time) => `with ${plainNumber(amount)} times as many calls for ${time}`,
}

/** A noun for the time while it goes on: `in the hang`. */
export const FAULT_NOUNS: Readonly<Record<FaultKind, string>> = {
  none: 'time without a fault',
  hang: 'hang',
  refuse: 'outage',
  capacity: 'brown-out',
  slow: 'slow-down',
  errors: 'spell of errors',
  flap: 'flapping',
  overload: 'overload',
}

/** A share that somebody wrote, and not a figure that was measured. */
function given(share: number): string {
  return `${plainNumber(share * 100)} %`
}

const DURATIONS = ['serviceTime', 'queue', 'before', 'during', 'after', 'restartAt'] as const

/** The scenario with its durations as people write them: a number would not say its unit. */
export function scenarioWithUnits(scenario: CompleteScenario): ScenarioInput {
  const texts = Object.fromEntries(DURATIONS.map((name) => [name, formatDuration(scenario[name])]))
  return { ...scenario, ...texts }
}

/** A sentence. */
export function scenarioWords(scenario: CompleteScenario): string {
  const { clients, load, capacity, fault, amount = 0, during, faultShare } = scenario
  const who = clients === 1 ? '1 client offers' : `${clients} clients offer`
  const what = FAULTS[fault](amount, formatDuration(during))
  const where = faultShare === 1 || fault === 'none' ? '' : `, in ${given(faultShare)} of its traffic`
  const rates = `${plainNumber(load * capacity)} calls/s to a server for ${plainNumber(capacity)}/s`
  return `${[`${who} ${rates}, ${what}${where}`, ...furtherWords(scenario)].join('; ')}.`
}

/** What else is unusual about it. */
function furtherWords(scenario: CompleteScenario): string[] {
  const { errorRate, burst, restartAt, ignoresSignal, neighbours } = scenario
  return [
    errorRate > 0 && `${given(errorRate)} of all answers fail by chance`,
    burst > 0 && `${plainNumber(burst)} calls come at once when that starts`,
    restartAt > 0 && `all clients are new after ${formatDuration(restartAt)}`,
    ignoresSignal && 'what callers have given up is still answered',
    neighbours > 0 && `${given(neighbours)} of the clients retry without a budget`,
  ].filter((words) => words !== false)
}
