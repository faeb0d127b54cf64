/**
 * A plan from a checked document in its canonical spelling. Pure: the same document gives the same plan. Imports the
 * builders of its parts.
 */
import path from 'node:path'
import { type BreakerInput, parseDuration } from 'reprise'
import type { Json } from 'reprise/durable'
import { fingerprint } from 'reprise/internal'
import { camelCase } from '../document/spelling.js'
import { bytesOf } from '../document/size.js'
import { buildAction, runOf, shellOf } from './build-action.js'
import { inCode } from './build-policy.js'
import { buildMap, isMapStep, withoutGates } from './build-map.js'
import type { BudgetData, DocumentData, MapStepData, StepData } from './document-data.js'
import type { MapPlan } from './map-plan.js'
import { type BudgetPlan, HANDLER_PARTS, type InterruptAction, type Plan, type StepPlan } from './plan.js'
import { PolicyBook } from './policy-book.js'
import { stepIds } from './step-ids.js'

/** What a document is called that has no name and came from no file. */
const NAMELESS = 'workflow'
const DEFAULT_LOG_BYTES = 64 * 1024 * 1024
const DEFAULT_RUN_LOG_BYTES = 1024 * 1024 * 1024

export function buildPlan(document: Json, file: string | null): Plan {
  const data = document as unknown as DocumentData
  const name = data.name ?? (file === null ? NAMELESS : path.parse(file).name)
  const breakers = byName(data.breakers ?? {}, (settings, key): BreakerInput => ({ ...inCode(settings), key }))
  const around: Around = { name, data, breakers, policies: new PolicyBook(data.retry_defaults, breakers) }
  const placed = [
    ...data.steps.map((step) => ({ step, part: undefined })),
    ...HANDLER_PARTS.flatMap((part) => (data[part] ?? []).map((step) => ({ step, part }))),
  ]
  const ids = stepIds(placed.map(({ step: { id, name: called } }) => ({ id, name: called })))
  return {
    name,
    file,
    document,
    fingerprint: fingerprintOf(document),
    params: data.params ?? {},
    env: data.env ?? {},
    envFiles: typeof data.env_file === 'string' ? [data.env_file] : (data.env_file ?? []),
    concurrency: concurrencyOf(data.concurrency),
    timeoutMs: data.timeout === undefined ? null : parseDuration(data.timeout),
    secrets: data.secrets ?? [],
    breakers,
    budgets: byName(data.budgets ?? {}, budgetPlan),
    outputs: data.outputs ?? {},
    maxRunLogBytes: sizeOf(data.max_run_log, DEFAULT_RUN_LOG_BYTES),
    phases: placed.map(({ step, part }, index) => {
      const id = ids[index] ?? ''
      if (isMapStep(step)) return buildMapStep(step, id, around)
      const built = buildStep(step, id, around)
      return part === undefined ? built : { ...built, part }
    }),
  }
}

/** The same whatever the order of the keys. Takes the canonical document, which comments are no part of. */
export function fingerprintOf(document: Json): string {
  return fingerprint(document)
}

interface Around {
  readonly name: string
  readonly policies: PolicyBook
  readonly data: DocumentData
  readonly breakers: Plan['breakers']
}

/** Of steps that have none; one for all of them. */
const NO_ENV = {}

function buildStep(step: StepData, id: string, { name, policies, data }: Around): StepPlan {
  const { capture, capture_format: format = 'text' } = step
  const { claude_program: program = null } = data
  return {
    kind: 'step',
    id,
    name: step.name ?? id,
    action: buildAction(step, program),
    ...policies.of(step, `${name}/${id}`),
    onInterrupt: interruptAction(step.on_interrupt),
    when: step.when ?? null,
    until: step.until ?? null,
    capture: capture === undefined ? null : { name: capture, format },
    env: step.env ?? NO_ENV,
    workingDir: step.working_dir ?? null,
    maxLogBytes: sizeOf(step.max_log ?? data.max_log, DEFAULT_LOG_BYTES),
  }
}

/** Its steps are named behind it: `nightly/resize/convert`. */
function buildMapStep(step: MapStepData, id: string, { name, data, breakers }: Around): MapPlan {
  const breakerKey = `${name}/${id}`
  const policies = new PolicyBook(withoutGates(data.retry_defaults), breakers)
  return buildMap(step, id, {
    breakers,
    breakerKey,
    onInterrupt: interruptAction,
    step: (one, inner) => buildStep(one, inner, { name: breakerKey, data, breakers, policies }),
  })
}

function concurrencyOf(data: DocumentData['concurrency']): Plan['concurrency'] {
  if (data === undefined) return null
  if (typeof data === 'string') return { group: data, onConflict: 'refuse' }
  return { group: data.group, onConflict: data.on_conflict ?? 'refuse' }
}

function sizeOf(written: string | undefined, otherwise: number): number {
  return written === undefined ? otherwise : bytesOf(written)
}

function interruptAction(action: StepData['on_interrupt'] = 'rerun'): InterruptAction {
  if (typeof action === 'string') return action
  const { verify } = action
  return { verify: typeof verify === 'string' ? shellOf(verify) : runOf(verify) }
}

function budgetPlan({ type, ...options }: BudgetData): BudgetPlan {
  const settings = Object.entries<Json>(options)
  return { type, settings: Object.fromEntries(settings.map(([key, value]) => [camelCase(key), value])) }
}

/** Names count without the spaces around them, as in the library. */
function byName<T, R>(record: Readonly<Record<string, T>>, make: (value: T, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key.trim(), make(value, key.trim())]))
}
