/** What stands in for a step that has failed is called by these names. Imports types only. */
import type { StepPlan } from './plan.js'

/** What the ids of fallbacks end with. */
export const FALLBACK_ENDING = '.fallback'

/** The id of its task; no step can be given such an id. */
export function fallbackId({ id }: Pick<StepPlan, 'id'>): string {
  return `${id}${FALLBACK_ENDING}`
}

/** Whether a task has such an id. */
export function isFallbackId(id: string): boolean {
  return id.endsWith(FALLBACK_ENDING)
}

/** For people. */
export function fallbackName({ name }: Pick<StepPlan, 'name'>): string {
  return `fallback of ${name}`
}
