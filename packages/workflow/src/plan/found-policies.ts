/**
 * The policies in a file, whichever kind of file it is: one, or those of the steps and the items of a
 * workflow, which is checked as a whole. Imports plans and files of policies.
 */
import { type NormalizedPolicy, normalizePolicy, type Policy } from 'reprise'
import { GATE_KEYS } from '../document/fields-retry.js'
import { isWorkflow, readPolicyFile } from '../document/policy-file.js'
import { hasFields, wholeOf } from '../document/located.js'
import type { Source } from '../document/source.js'
import type { MapPlan } from './map-plan.js'
import { type MapStarts, startsOf } from './map-starts.js'
import { type LocatedMap, locatedPhases, type LocatedStep } from './located-phases.js'
import type { Action, Plan, StepPlan } from './plan.js'
import { planOf } from './plan-of.js'
import type { Readers } from './readers.js'

/** What a policy is of: a file with nothing else, a step, the items of a map, or a step that is done for each of them. */
export type PolicyRole = 'alone' | 'step' | 'item' | 'template'

export interface FoundPolicy extends NormalizedPolicy {
  /** The id of the step; `MAP/STEP` for a step of a template; null for a policy that stands alone. */
  readonly step: string | null
  /** What people call the step. */
  readonly name: string | null
  readonly role: PolicyRole
  /** The condition that its step polls for, if it has one. */
  readonly until?: string
  /** How often it can be started; null where there are no items. */
  readonly starts: MapStarts | null
}

export interface PolicyFile {
  readonly isWorkflow: boolean
  /** Steps and maps, without the steps of templates. */
  readonly steps: number
  readonly policies: readonly FoundPolicy[]
  /** Keys of the whole that nobody has looked at; of a workflow there are none. */
  readonly unread: readonly string[]
}

export function readPolicies(source: Source, readers: Readers): PolicyFile {
  if (!isWorkflow(source)) {
    const { unread, ...found } = readPolicyFile(source)
    const only: FoundPolicy = { step: null, name: null, role: 'alone', starts: null, ...found }
    return { isWorkflow: false, steps: 0, policies: [only], unread }
  }
  const plan = planOf(source, readers)
  return { isWorkflow: true, steps: plan.phases.length, policies: policiesOf(source, plan, readers), unread: [] }
}

/** Those of the steps of a plan that was made of this source, and of the items of its maps. */
function policiesOf(source: Source, plan: Plan, readers: Readers): readonly FoundPolicy[] {
  const written = locatedPhases(source, wholeOf(source))
  return plan.phases.flatMap((phase, index) => {
    const located = written[index]
    return phase.kind === 'map'
      ? mapPolicies(phase, located?.map, plan, readers)
      : [stepPolicy(phase, located, readers)]
  })
}

function stepPolicy(step: StepPlan, written: LocatedStep | undefined, readers: Readers): FoundPolicy {
  const { policy, notes } = normalizePolicy(step.policy)
  const more = [
    ...timeoutNotes(written?.located.data, policy),
    ...untilNotes(step, policy),
    ...shellNotes(step, readers),
  ]
  const { id, name, until } = step
  const found = { step: id, name, role: 'step', starts: null, policy, notes: [...notes, ...more] } as const
  return until === null ? found : { ...found, until }
}

/** Of the items first, then of the steps that are done for each. */
function mapPolicies(
  map: MapPlan,
  written: LocatedMap | undefined,
  plan: Plan,
  readers: Readers,
): readonly FoundPolicy[] {
  const { policy, notes } = normalizePolicy(map.policy)
  const item: FoundPolicy = {
    step: map.id,
    name: map.name,
    role: 'item',
    starts: startsOf(map, 1),
    policy,
    notes: [...notes, ...defaultGateNotes(plan)],
  }
  const located = [...(written?.template ?? []), ...(written?.onItemError ?? [])]
  const steps = [...map.template, ...map.onItemError].map((step, index): FoundPolicy => {
    const found = stepPolicy(step, located[index], readers)
    const starts = startsOf(map, found.policy.attempts, index >= map.template.length)
    return { ...found, step: `${map.id}/${step.id}`, role: 'template', starts }
  })
  return [item, ...steps]
}

/** Steps of a template have the other fields of `retry_defaults`: an item passes the gates of its map. */
function defaultGateNotes({ document }: Plan): string[] {
  const defaults = (document as { readonly retry_defaults?: unknown }).retry_defaults
  const gates = GATE_KEYS.filter((key) => hasFields(defaults) && Object.hasOwn(defaults, key))
  return gates.map((key) => `\`${key}\` of \`retry_defaults\` is for steps. A map names its own in \`item_retry\`.`)
}

/** What is allowed but odd in a plan that was made of this source, in sentences that name the step. */
export function notesOf(source: Source, plan: Plan, readers: Readers): string[] {
  return stepNotes(policiesOf(source, plan, readers))
}

export function stepNotes(policies: readonly FoundPolicy[]): string[] {
  return policies.flatMap(({ step, notes }) => notes.map((note) => `Step ${step ?? ''}: ${note}`))
}

/** Of all shell text that the step may run. */
function shellNotes({ action, onFailure, onInterrupt }: StepPlan, { shell }: Readers): string[] {
  const actions: readonly Action[] = [
    action,
    ...(typeof onFailure === 'string' ? [] : [onFailure.fallback]),
    ...(typeof onInterrupt === 'string' ? [] : [onInterrupt.verify]),
  ]
  return actions.flatMap((one) => (one.kind === 'shell' ? [...(shell.notesOn?.(one.command) ?? [])] : []))
}

/** With one attempt nothing is polled. */
function untilNotes({ until }: StepPlan, { attempts }: Policy): string[] {
  if (until === null || attempts > 1) return []
  return ['`until` is looked at once: the step has one attempt. Write `retry: {attempts: …}` for more looks.']
}

/** `timeout` of a policy is the limit of everything; that of a step is older, and is the limit of one attempt. */
function timeoutNotes(step: unknown, { attempts }: Policy): string[] {
  if (attempts === 1 || !hasFields(step) || !Object.hasOwn(step, 'timeout')) return []
  const limit = String(step['timeout'])
  const cure = `Write \`attempt_timeout: ${limit}\`, or \`timeout\` under \`retry\` for all of them.`
  return [`\`timeout: ${limit}\` is the limit of each of the ${attempts} attempts. ${cure}`]
}
