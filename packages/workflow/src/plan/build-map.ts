/** The plan of a map, from its data. Pure. Imports the builders of its parts. */
import type { PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { RATE } from '../document/names.js'
import { runOf, shellOf } from './build-action.js'
import { buildPolicy, type PolicySources } from './build-policy.js'
import type { ErrorPolicyData, MapData, MapInputData, MapStepData, StepData } from './document-data.js'
import type { ItemSelection, MapErrorPolicy, MapInput, MapPlan, MapRate } from './map-plan.js'
import type { InterruptAction, StepPlan } from './plan.js'
import { sortKeyOf } from './sort-key.js'
import { stepIds } from './step-ids.js'

export interface MapParts {
  readonly breakers: PolicySources['breakers']
  /** Of a breaker that the items have for themselves. */
  readonly breakerKey: string
  readonly onInterrupt: (action: MapData['on_interrupt']) => InterruptAction
  readonly step: (data: StepData, id: string) => StepPlan
}

/** How many items run at a time when nothing is said. */
const MAX_PARALLEL = 8

export function buildMap(
  { name, when, on_failure: onFailure = 'stop', map }: MapStepData,
  id: string,
  parts: MapParts,
): MapPlan {
  const { error_policy: errors = {}, on_item_error: onItemError = [] } = map
  const steps = [...map.agent_template, ...onItemError]
  const ids = stepIds(steps.map((step) => ({ id: step.id, name: step.name })))
  const built = steps.map((step, index) => parts.step(step, ids[index] ?? ''))
  return {
    kind: 'map',
    id,
    name: name ?? id,
    when: when ?? null,
    onFailure,
    input: buildInput(map.input),
    selection: buildSelection(map),
    maxParallel: map.max_parallel ?? MAX_PARALLEL,
    rate: map.rate === undefined ? null : rateOf(map.rate),
    batch: map.batch ?? 1,
    isolation: map.isolation ?? 'none',
    policy: itemPolicy(map, parts),
    onInterrupt: parts.onInterrupt(map.on_interrupt),
    checkpoint: map.checkpoint ?? 'none',
    keepLogs: map.keep_logs ?? 'failures',
    template: built.slice(0, map.agent_template.length),
    onItemError: built.slice(map.agent_template.length),
    errors: buildErrors(errors),
  }
}

/** `retry_defaults` are those of steps: an item without `item_retry` has one attempt. */
function itemPolicy(
  { error_policy: errors = {}, agent_timeout: attemptTimeout }: MapData,
  parts: MapParts,
): PolicyInput {
  const { item_retry: given, on_item_failure: action } = errors
  const retry = given ?? (action === 'retry' ? {} : undefined)
  const { breakers, breakerKey } = parts
  return buildPolicy({ retry, defaults: undefined, attemptTimeout, breakers, breakerKey })
}

function buildInput(input: MapInputData): MapInput {
  if (typeof input === 'string') {
    return isLoneReference(input)
      ? { kind: 'value', reference: input.trim() }
      : { kind: 'file', path: input, format: null }
  }
  if ('length' in input) return { kind: 'list', items: input }
  const { format = null } = input
  if (input.file !== undefined) return { kind: 'file', path: input.file, format }
  if (input.command !== undefined) return { kind: 'command', action: shellOf(input.command), format }
  if (input.run !== undefined) return { kind: 'command', action: runOf(input.run), format }
  if (input.glob !== undefined)
    return { kind: 'glob', patterns: typeof input.glob === 'string' ? [input.glob] : input.glob }
  if (input.range !== undefined) {
    const [from, to, step = 1] = input.range
    return { kind: 'range', from, to, step }
  }
  return input.product === undefined ? { kind: 'stdin', format } : { kind: 'product', lists: input.product }
}

/** A text that is one reference and nothing else stands for the value, and not for a path. */
function isLoneReference(text: string): boolean {
  return /^\s*\$\{[^{}]*\}\s*$/.test(text)
}

function buildSelection(map: MapData): ItemSelection {
  const { sort_by: keys = [] } = map
  return {
    jsonPath: map.json_path ?? null,
    filter: map.filter ?? null,
    distinct: map.distinct ?? null,
    sortBy: (typeof keys === 'string' ? [keys] : keys).map(sortKeyOf),
    offset: map.offset ?? 0,
    maxItems: map.max_items ?? null,
  }
}

function buildErrors(data: ErrorPolicyData): MapErrorPolicy {
  const { on_item_failure: action = 'dlq', tolerate, failure_threshold: threshold } = data
  return {
    onItemFailure: action === 'retry' ? 'dlq' : action,
    tolerate:
      tolerate === undefined ? null : typeof tolerate === 'number' ? { count: tolerate } : { share: shareOf(tolerate) },
    maxFailures: data.max_failures ?? null,
    failureThreshold: threshold === undefined ? null : shareOf(threshold),
    halt: data.halt ?? 'soon',
    haltOn: data.halt_on ?? [],
    maxRetries: data.max_retries ?? null,
    maxRetriesPerItem: data.max_retries_per_item ?? null,
  }
}

function shareOf(value: number | string): number {
  return typeof value === 'number' ? value : Number.parseFloat(value) / 100
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `20/s`, `5/500ms`, as the table's rule has it. */
function rateOf(text: string): MapRate {
  const [, count = '1', times = '', unit = 's'] = /^(\d+)\/(\d*)([a-z]+)$/.exec(text) ?? []
  const unitMs = UNITS[unit] ?? UNITS[unit.charAt(0)] ?? 1000
  return { count: Number(count), perMs: (times === '' ? 1 : Number(times)) * unitMs }
}

/** Undefined for a text that is no rate. */
export function readMapRate(text: string): MapRate | undefined {
  return new RegExp(RATE.pattern).test(text) ? rateOf(text) : undefined
}

/** Of the data of a list of steps. */
export function isMapStep(step: StepData | MapStepData): step is MapStepData {
  return (step as Partial<MapStepData>).map !== undefined
}

/** Of `retry_defaults`, without what steps of a template have no part in. */
export function withoutGates(defaults: Json | undefined): Json | undefined {
  if (typeof defaults !== 'object' || defaults === null) return defaults
  const { breaker: _, budget: __, ...others } = defaults as Readonly<Record<string, Json>>
  return others
}
