/**
 * What changed between two plans, for a person to read before a run goes on with the new one. Steps are the same if
 * their ids are; policies are compared as what they mean, not as they are written. Pure. Imports the parts as they are written.
 */
import { changesIn, type ValueChange } from './json-difference.js'
import { movedAmong } from './moved.js'
import { type Plan, type StepPlan, stepsOf } from './plan.js'
import { writtenDocument, writtenPolicy, writtenStep } from './written.js'

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
  const documents = changesIn(writtenDocument(before), writtenDocument(after))
  const old = new Map(stepsOf(before).map((step) => [step.id, step]))
  return [
    ...documents.map((change): Difference => ({ kind: 'document_changed', ...change })),
    ...orderChanges(before, after),
    ...stepsOf(after).flatMap((step) => {
      const same = old.get(step.id)
      return same === undefined ? [] : stepChanges(same, step, [before, after])
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
    ...movedAmong(kept, keptNow).map((step): Difference => {
      return { kind: 'step_moved', step, from: placed(old, step), to: placed(now, step) }
    }),
  ]
}

function stepChanges(before: StepPlan, after: StepPlan, plans: readonly [Plan, Plan]): Difference[] {
  const step = after.id
  const steps = changesIn(writtenStep(before), writtenStep(after))
  const policies = changesIn(writtenPolicy(before, plans[0]), writtenPolicy(after, plans[1]))
  return [
    ...steps.map((change): Difference => ({ kind: 'step_changed', step, ...change })),
    ...policies.map((change): Difference => ({ kind: 'policy_changed', step, ...change })),
  ]
}
