// @ts-check
/**
 * The policies that are replayed: those the simulator knows by the same names, so that the two compare.
 * Imports the built library.
 */
import { recommended } from 'reprise'
import { wellKnown } from 'reprise/simulate'

/** @param {import('./rig.mjs').Rig} rig */
const limitsOf = (rig) => ({ attemptTimeout: rig.attemptTimeoutMs, timeout: rig.timeoutMs })

/** @param {string} name @param {import('./rig.mjs').Rig} rig */
export function simulatedSubject(name, rig) {
  const found = wellKnown(limitsOf(rig)).find((subject) => subject.name === name)
  if (found === undefined) throw new Error(`The simulator knows no policy ${name}.`)
  return found
}

/**
 * What a client process makes its executor of.
 * @param {string} name @param {import('./rig.mjs').Rig} rig @returns {import('reprise').ExecutorOptions}
 */
export function executorOptions(name, rig) {
  if (name === 'recommended') return recommended(limitsOf(rig))
  return { defaultPolicy: simulatedSubject(name, rig).policy }
}
