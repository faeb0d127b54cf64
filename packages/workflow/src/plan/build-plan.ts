/**
 * A plan from a checked document in its canonical spelling. Pure: the same document gives the same plan. Imports the
 * builders of its parts.
 */
import path from 'node:path'
import type { BreakerInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { fingerprint } from 'reprise/internal'
import { camelCase } from '../document/spelling.js'
import { buildAction, runOf, shellOf } from './build-action.js'
import { inCode } from './build-policy.js'
import type { BudgetData, DocumentData, StepData } from './document-data.js'
import type { BudgetPlan, InterruptAction, Plan, StepPlan } from './plan.js'
import { PolicyBook } from './policy-book.js'
import { stepIds } from './step-ids.js'

/** What a document is called that has no name and came from no file. */
const NAMELESS = 'workflow'

export function buildPlan(document: Json, file: string | null): Plan {
  const data = document as unknown as DocumentData
  const name = data.name ?? (file === null ? NAMELESS : path.parse(file).name)
  const breakers = byName(data.breakers ?? {}, (settings, key): BreakerInput => ({ ...inCode(settings), key }))
  const policies = new PolicyBook(data.retry_defaults, breakers)
  const ids = stepIds(data.steps.map((step) => ({ id: step.id, name: step.name })))
  return {
    name,
    file,
    document,
    fingerprint: fingerprintOf(document),
    params: data.params ?? {},
    env: data.env ?? {},
    secrets: data.secrets ?? [],
    breakers,
    budgets: byName(data.budgets ?? {}, budgetPlan),
    phases: data.steps.map((step, index) => buildStep(step, ids[index] ?? '', { name, policies, data })),
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
    capture: capture === undefined ? null : { name: capture, format },
    env: step.env ?? NO_ENV,
    workingDir: step.working_dir ?? null,
  }
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
