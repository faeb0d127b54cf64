// @ts-check
/**
 * The policies that are replayed: those the simulator knows by the same names, so that the two compare.
 * Imports the built library.
 */
import { recommended } from 'reprise'
import { wellKnown } from 'reprise/simulate'

/** @param {import('./rig.mjs').Scenario} scenario */
const limitsOf = (scenario) => ({ attemptTimeout: scenario.attemptTimeoutMs, timeout: scenario.timeoutMs })

/** @param {string} name @param {import('./rig.mjs').Scenario} scenario */
export function simulatedSubject(name, scenario) {
  const found = wellKnown(limitsOf(scenario)).find((subject) => subject.name === name)
  if (found === undefined) throw new Error(`The simulator knows no policy ${name}.`)
  return found
}

/**
 * What a client process makes its executor of.
 * @param {string} name @param {import('./rig.mjs').Scenario} scenario @returns {import('reprise').ExecutorOptions}
 */
export function executorOptions(name, scenario) {
  if (name === 'recommended') return recommended(limitsOf(scenario))
  return { defaultPolicy: simulatedSubject(name, scenario).policy }
}
