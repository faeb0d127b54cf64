/** A map as a document would say it, with every default filled in: what two plans are compared by. Pure. */
import { formatDuration } from 'reprise'
import type { Json } from 'reprise/durable'
import type { MapErrorPolicy, MapInput, MapPlan, SortKey } from './map-plan.js'
import type { Plan, StepPlan } from './plan.js'
import { canonicalInterrupt, canonicalItemPolicy, canonicalPolicy, canonicalStep } from './canonical-plan.js'

/** Without the steps that are done for each item: see `templatesOf`. */
export function canonicalMap(map: MapPlan, plan: Plan): Json {
  const { selection } = map
  return {
    name: map.name,
    when: map.when,
    on_failure: map.onFailure,
    input: canonicalInput(map.input),
    json_path: selection.jsonPath,
    filter: selection.filter,
    distinct: selection.distinct,
    sort_by: selection.sortBy.map(canonicalSortKey),
    offset: selection.offset,
    max_items: selection.maxItems,
    max_parallel: map.maxParallel,
    rate: map.rate === null ? null : `${map.rate.count}/${formatDuration(map.rate.perMs)}`,
    // Plans of runs that were recorded before there were these fields have none.
    ...(map.batch > 1 && { batch: map.batch }),
    ...(map.isolation !== 'none' && { isolation: map.isolation }),
    checkpoint: map.checkpoint,
    on_interrupt: canonicalInterrupt(map.onInterrupt),
    keep_logs: map.keepLogs,
    error_policy: { ...canonicalErrors(map.errors), item_retry: canonicalItemPolicy(map.policy, plan) },
  }
}

/** Steps that are done for each item, by the field that has them. */
export function templatesOf({ template, onItemError }: MapPlan): readonly (readonly [string, readonly StepPlan[]])[] {
  return [
    ['agent_template', template],
    ['on_item_error', onItemError],
  ]
}

/** With its policy, as a part of its map. */
export function canonicalTemplateStep(step: StepPlan, plan: Plan): Json {
  return { ...(canonicalStep(step) as object), retry: canonicalPolicy(step, plan) }
}

function canonicalInput(input: MapInput): Json {
  switch (input.kind) {
    case 'file':
      return { file: input.path, format: input.format }
    case 'command': {
      const { action, format } = input
      return action.kind === 'shell' ? { command: action.command, format } : { run: action.argv, format }
    }
    case 'glob':
      return { glob: input.patterns }
    case 'stdin':
      return { stdin: true, format: input.format }
    case 'range':
      return { range: [input.from, input.to, input.step] }
    case 'product':
      return { product: input.lists }
    case 'list':
      return { list: input.items }
    case 'value':
      return { value: input.reference }
  }
}

/** @public `run --dry-run` shows it. */
export function canonicalSortKey({ expression, isDescending }: SortKey): string {
  return isDescending ? `${expression} desc` : expression
}

function canonicalErrors(errors: MapErrorPolicy): Readonly<Record<string, Json>> {
  const { tolerate } = errors
  return {
    on_item_failure: errors.onItemFailure,
    tolerate:
      tolerate === null ? null : 'count' in tolerate ? tolerate.count : `${Number((tolerate.share * 100).toFixed(9))}%`,
    max_failures: errors.maxFailures,
    failure_threshold: errors.failureThreshold,
    halt: errors.halt,
    halt_on: errors.haltOn,
    max_retries: errors.maxRetries,
    max_retries_per_item: errors.maxRetriesPerItem,
  }
}
