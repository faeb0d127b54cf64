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

/** The step that the task with this id stands in for, by its id; undefined if it stands in for none. */
export function stepOfFallback(id: string): string | undefined {
  return isFallbackId(id) ? id.slice(0, -FALLBACK_ENDING.length) : undefined
}

/** For people. */
export function fallbackName({ name }: Pick<StepPlan, 'name'>): string {
  return `fallback of ${name}`
}
