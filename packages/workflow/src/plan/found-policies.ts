/**
 * The policies in a file, whichever kind of file it is: one, or one for each step of a workflow. A workflow is checked
 * as a whole. Imports plans and files of policies.
 */
import { type NormalizedPolicy, normalizePolicy } from 'reprise'
import { isWorkflow, readPolicyFile } from '../document/policy-file.js'
import type { Source } from '../document/source.js'
import { planOf } from './plan-of.js'
import type { Readers } from './readers.js'

export interface FoundPolicy extends NormalizedPolicy {
  /** The id of the step; null for a policy that stands alone. */
  readonly step: string | null
  /** What people call the step. */
  readonly name: string | null
}

export interface PolicyFile {
  readonly isWorkflow: boolean
  readonly policies: readonly FoundPolicy[]
  /** Keys of the whole that nobody has looked at; of a workflow there are none. */
  readonly unread: readonly string[]
}

export function readPolicies(source: Source, readers: Readers): PolicyFile {
  if (!isWorkflow(source)) {
    const { unread, ...found } = readPolicyFile(source)
    return { isWorkflow: false, policies: [{ step: null, name: null, ...found }], unread }
  }
  const { steps } = planOf(source, readers)
  const policies = steps.map(({ id, name, policy }) => ({ step: id, name, ...normalizePolicy(policy) }))
  return { isWorkflow: true, policies, unread: [] }
}
