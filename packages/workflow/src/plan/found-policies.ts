/**
 * The policies in a file, whichever kind of file it is: one, or one for each step of a workflow. A workflow is checked
 * as a whole. Imports plans and files of policies.
 */
import { type NormalizedPolicy, normalizePolicy, type Policy } from 'reprise'
import { WORKFLOW } from '../document/fields-document.js'
import { isWorkflow, readPolicyFile } from '../document/policy-file.js'
import { hasFields } from '../document/spot.js'
import { spellingsOf } from '../document/shape.js'
import type { Source } from '../document/source.js'
import { stepsOf } from './plan.js'
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
  const steps = stepsOf(planOf(source, readers))
  const written = writtenSteps(source)
  const policies = steps.map(({ id, name, policy: input }, index) => {
    const { policy, notes } = normalizePolicy(input)
    return { step: id, name, policy, notes: [...notes, ...timeoutNotes(written[index], policy)] }
  })
  return { isWorkflow: true, policies, unread: [] }
}

/** In the file's own spelling. */
function writtenSteps({ value }: Source): readonly unknown[] {
  if (!hasFields(value)) return []
  const field = WORKFLOW.fields.find(({ name }) => name === 'steps')
  const key = field && spellingsOf(field, WORKFLOW).find((name) => Object.hasOwn(value, name))
  return key === undefined ? [] : (value[key] as readonly unknown[])
}

/** `timeout` of a policy is the limit of everything; that of a step is older, and is the limit of one attempt. */
function timeoutNotes(step: unknown, { attempts }: Policy): string[] {
  if (attempts === 1 || !hasFields(step) || !Object.hasOwn(step, 'timeout')) return []
  const limit = String(step['timeout'])
  const cure = `Write \`attempt_timeout: ${limit}\`, or \`timeout\` under \`retry\` for all of them.`
  return [`\`timeout: ${limit}\` is the limit of each of the ${attempts} attempts. ${cure}`]
}
