/** What is wrong with a length of time in a file. The rule and the words are the library's. Imports the library. */
import { normalizePolicy, PolicyError, type PolicyProblem } from 'reprise'

export function faultOfDuration(value: unknown): PolicyProblem | undefined {
  try {
    normalizePolicy({ timeout: value }, { needsUnits: true })
    return undefined
  } catch (error) {
    if (error instanceof PolicyError) return error.problems[0]
    throw error
  }
}
