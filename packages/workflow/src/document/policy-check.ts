/**
 * A policy of a file: checked by the library, its problems told at their places and with the cures of files.
 * Imports the library, located values and findings.
 */
import { type NormalizedPolicy, normalizePolicy, PolicyError } from 'reprise'
import { helpFor, prefersCamel } from './field-help.js'
import type { Findings } from './findings.js'
import { follow, type LocatedValue } from './located.js'

export interface PolicyPlace {
  /** What of the value is the policy's; paths of problems are followed from the value. */
  readonly data: unknown
  /** Words that are looked for beside the fields of a policy. */
  readonly words?: readonly string[]
  /** Where in the policy the value stands, when it is only a part of one: `breaker`. */
  readonly part?: string
  readonly isWorkflow?: boolean
}

/** Undefined after a problem. */
export function checkPolicy(
  findings: Findings,
  located: LocatedValue,
  place: PolicyPlace,
): NormalizedPolicy | undefined {
  const { data, part, words = [], isWorkflow = false } = place
  const policy = part === undefined ? data : { [part]: data }
  try {
    return normalizePolicy(policy, { needsUnits: true })
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    const isCamel = prefersCamel(policy, /^\s*{\s*"/.test(findings.source.text))
    const told = new Set<string>()
    for (const problem of error.problems) {
      const { path, message } = problem
      const at = follow(
        findings.source,
        located,
        part === undefined ? path : path.slice(part.length).replace(/^\./, ''),
      )
      const help = helpFor(problem, { value: at.data, words, isCamel, isWorkflow })
      // Two problems of one value have one cure.
      const hint = help === undefined || told.has(at.path + help) ? undefined : help
      told.add(at.path + (help ?? ''))
      findings.fail(at, message, hint, message === 'unknown field')
    }
    return undefined
  }
}
