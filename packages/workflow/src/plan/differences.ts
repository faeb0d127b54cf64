/**
 * What changed between two plans, for a person to read before a run goes on with the new one. Steps are the same if
 * their ids are; policies are compared as what they mean, not as they are written. Pure. Imports the parts as they are written.
 */
import { changesIn, type ValueChange } from './json-difference.js'
import { reorderedAmong } from './reordered-steps.js'
import type { MapPlan } from './map-plan.js'
import type { PhasePlan, Plan, StepPlan } from './plan.js'
import { canonicalDocument, canonicalPolicy, canonicalStep } from './canonical-plan.js'
import { templatesOf, canonicalMap, canonicalTemplateStep } from './canonical-map.js'

export type Difference =
  /** Positions count from 1. */
  | { readonly kind: 'step_added'; readonly step: string; readonly position: number }
  | { readonly kind: 'step_removed'; readonly step: string; readonly position: number }
  | { readonly kind: 'step_moved'; readonly step: string; readonly from: number; readonly to: number }
  /** What the step does, when, where and with what: `shell`, `env.REGION`, `capture.format`. */
  | (ValueChange & { readonly kind: 'step_changed'; readonly step: string })
  /** A field of its policy: `attempts`, `backoff.base`. */
  | (ValueChange & { readonly kind: 'policy_changed'; readonly step: string })
  /** Outside of the steps: `params.region`, `budgets.api.type`. */
  | (ValueChange & { readonly kind: 'document_changed' })

/** Empty if both mean the same, however they are written. */
export function differencesOf(before: Plan, after: Plan): Difference[] {
  const documents = changesIn(canonicalDocument(before), canonicalDocument(after))
  const old = new Map(before.phases.map((phase) => [phase.id, phase]))
  return [
    ...documents.map((change): Difference => ({ kind: 'document_changed', ...change })),
    ...orderChanges(before, after),
    ...after.phases.flatMap((phase) => {
      const same = old.get(phase.id)
      return same === undefined ? [] : phaseChanges(same, phase, [before, after])
    }),
  ]
}

function orderChanges(before: Plan, after: Plan): Difference[] {
  const positions = ({ phases }: Plan): ReadonlyMap<string, number> =>
    new Map(phases.map(({ id }, index) => [id, index + 1]))
  const [old, now] = [positions(before), positions(after)]
  const placed = (map: ReadonlyMap<string, number>, step: string): number => map.get(step) ?? 0
  const removed = [...old.keys()].filter((step) => !now.has(step))
  const added = [...now.keys()].filter((step) => !old.has(step))
  const kept = [...old.keys()].filter((step) => now.has(step))
  const keptNow = [...now.keys()].filter((step) => old.has(step))
  return [
    ...removed.map((step): Difference => ({ kind: 'step_removed', step, position: placed(old, step) })),
    ...added.map((step): Difference => ({ kind: 'step_added', step, position: placed(now, step) })),
    ...reorderedAmong(kept, keptNow).map((step): Difference => {
      return { kind: 'step_moved', step, from: placed(old, step), to: placed(now, step) }
    }),
  ]
}

function phaseChanges(before: PhasePlan, after: PhasePlan, plans: readonly [Plan, Plan]): Difference[] {
  if (before.kind === 'step' && after.kind === 'step') return stepChanges(before, after, plans)
  if (before.kind === 'map' && after.kind === 'map') return mapChanges(before, after, plans)
  return [{ kind: 'step_changed', step: after.id, field: 'kind', from: before.kind, to: after.kind }]
}

/** Field by field, also within the steps of its template that both have. */
function mapChanges(before: MapPlan, after: MapPlan, plans: readonly [Plan, Plan]): Difference[] {
  const changes = changesIn(canonicalMap(before, plans[0]), canonicalMap(after, plans[1]))
  const [old, now] = [templatesOf(before), templatesOf(after)]
  const inner = now.flatMap(([field, steps], index) => templateChanges(field, old[index]?.[1] ?? [], steps, plans))
  return [...changes, ...inner].map((change): Difference => ({ kind: 'step_changed', step: after.id, ...change }))
}

function templateChanges(
  field: string,
  before: readonly StepPlan[],
  after: readonly StepPlan[],
  [old, now]: readonly [Plan, Plan],
): ValueChange[] {
  const ids = (steps: readonly StepPlan[]): string[] => steps.map(({ id }) => id)
  const same = after.flatMap((step) => {
    const was = before.find(({ id }) => id === step.id)
    if (was === undefined) return []
    return changesIn(canonicalTemplateStep(was, old), canonicalTemplateStep(step, now), `${field}.${step.id}`)
  })
  return [...changesIn(ids(before), ids(after), field), ...same]
}

function stepChanges(before: StepPlan, after: StepPlan, plans: readonly [Plan, Plan]): Difference[] {
  const step = after.id
  const steps = changesIn(canonicalStep(before), canonicalStep(after))
  const policies = changesIn(canonicalPolicy(before, plans[0]), canonicalPolicy(after, plans[1]))
  return [
    ...steps.map((change): Difference => ({ kind: 'step_changed', step, ...change })),
    ...policies.map((change): Difference => ({ kind: 'policy_changed', step, ...change })),
  ]
}
