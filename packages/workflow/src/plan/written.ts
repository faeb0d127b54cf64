/**
 * Parts of a plan as a document would say them, with every default filled in: what two plans are compared by. Pure.
 * Imports the library.
 */
import { type BreakerInput, formatDuration, normalizePolicy, type Policy, type PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { THEN } from '../document/fields-retry.js'
import { snakeCase } from '../document/spelling.js'
import type { FailureAction, InterruptAction, Plan, StepPlan } from './plan.js'

/** What stands beside the steps. */
export function writtenDocument({ name, params, env, secrets, outputs, breakers, budgets }: Plan): Json {
  const writtenBreaker = (settings: BreakerInput): Json => {
    const { key: _, ...others } = normalizePolicy({ breaker: settings }).policy.breaker ?? { key: undefined }
    return written(others)
  }
  return {
    ...{ name, params, env, secrets, outputs },
    breakers: byName(breakers, writtenBreaker),
    budgets: byName(budgets, ({ type, settings }) => ({ type, ...(written(settings) as object) })),
  }
}

/** Names are people's own, and stay as they are. */
function byName<T>(record: Readonly<Record<string, T>>, write: (value: T) => Json): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, write(value)]))
}

/** Without its policy. */
export function writtenStep({ name, part, action, when, capture, env, workingDir, onInterrupt }: StepPlan): Json {
  const { kind, ...fields } = action
  const does = Object.fromEntries(Object.entries(fields).map(([key, value]) => [snakeCase(key), value]))
  const [only, ...others] = Object.values(does)
  return {
    name,
    part: part ?? 'steps',
    [kind]: others.length === 0 ? only : does,
    when,
    capture,
    env,
    working_dir: workingDir,
    on_interrupt: writtenInterrupt(onInterrupt),
  } as Json
}

export function writtenPolicy({ policy, onFailure }: StepPlan, plan: Plan): Json {
  return { ...(writtenItemPolicy(policy, plan) as object), on_failure: writtenFailure(onFailure) }
}

/** Of a policy that says nothing about what follows a failure. */
export function writtenItemPolicy(input: PolicyInput, { breakers }: Plan): Json {
  const { jitter, breaker, failIf: _, ...others } = normalizePolicy(input).policy
  return written({
    ...others,
    jitter: jitter === 'none' ? false : jitter,
    breaker: sharedName(breaker, breakers) ?? breaker,
  })
}

/** A declared breaker is known by its name: what changes in it has changed in the document. */
function sharedName(breaker: Policy['breaker'], breakers: Plan['breakers']): string | undefined {
  return breaker?.key !== undefined && Object.hasOwn(breakers, breaker.key) ? breaker.key : undefined
}

function writtenFailure(action: FailureAction): Json {
  if (typeof action === 'string') return action
  return { fallback: { command: action.fallback.command }, [THEN.name]: action.afterwards }
}

export function writtenInterrupt(action: InterruptAction): Json {
  if (typeof action === 'string') return action
  return { verify: action.verify.kind === 'shell' ? action.verify.command : action.verify.argv }
}

/** As files spell it: `max_delay: 30s` for `maxDelayMs: 30000`. */
function written(value: unknown, isTime = false): Json {
  if (Array.isArray(value)) return value.map((item) => written(item, isTime))
  if (typeof value === 'number' && isTime) return formatDuration(value)
  if (typeof value !== 'object' || value === null) return value as Json
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(
    entries.map(([key, item]) => [snakeCase(key.replace(/Ms$/, '')), written(item, key.endsWith('Ms'))]),
  )
}
