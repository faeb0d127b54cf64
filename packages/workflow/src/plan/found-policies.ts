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
import { type Plan, stepsOf } from './plan.js'
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
  return { isWorkflow: true, policies: policiesOf(source, planOf(source, readers)), unread: [] }
}

/** Those of the steps of a plan that was made of this source. */
function policiesOf(source: Source, plan: Plan): readonly FoundPolicy[] {
  const written = writtenSteps(source)
  return stepsOf(plan).map(({ id, name, policy: input }, index) => {
    const { policy, notes } = normalizePolicy(input)
    return { step: id, name, policy, notes: [...notes, ...timeoutNotes(written[index], policy)] }
  })
}

/** What is allowed but odd in a plan that was made of this source, in sentences that name the step. */
export function notesOf(source: Source, plan: Plan): string[] {
  return stepNotes(policiesOf(source, plan))
}

export function stepNotes(policies: readonly FoundPolicy[]): string[] {
  return policies.flatMap(({ step, notes }) => notes.map((note) => `Step ${step ?? ''}: ${note}`))
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
