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
export function canonicalDocument(plan: Plan): Json {
  const { name, params, env, envFiles, timeoutMs, concurrency, secrets, outputs, breakers, budgets } = plan
  const canonicalBreaker = (settings: BreakerInput): Json => {
    const { key: _, ...others } = normalizePolicy({ breaker: settings }).policy.breaker ?? { key: undefined }
    return canonical(others)
  }
  return {
    ...{ name, params, env, env_file: envFiles, secrets, outputs },
    concurrency: concurrency && { group: concurrency.group, on_conflict: concurrency.onConflict },
    timeout: timeoutMs === null ? null : formatDuration(timeoutMs),
    breakers: byName(breakers, canonicalBreaker),
    budgets: byName(budgets, ({ type, settings }) => ({ type, ...(canonical(settings) as object) })),
  }
}

/** Names are people's own, and stay as they are. */
function byName<T>(record: Readonly<Record<string, T>>, write: (value: T) => Json): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, write(value)]))
}

/** Without its policy. */
export function canonicalStep(step: StepPlan): Json {
  const { name, part, action, when, until, capture, env, workingDir, onInterrupt } = step
  const { kind, ...fields } = action
  const does = Object.fromEntries(Object.entries(fields).map(([key, value]) => [snakeCase(key), value]))
  const [only, ...others] = Object.values(does)
  return {
    name,
    part: part ?? 'steps',
    [kind]: others.length === 0 ? only : does,
    when,
    until,
    capture,
    env,
    working_dir: workingDir,
    on_interrupt: canonicalInterrupt(onInterrupt),
  } as Json
}

export function canonicalPolicy({ policy, onFailure }: StepPlan, plan: Plan): Json {
  return { ...(canonicalItemPolicy(policy, plan) as object), on_failure: canonicalFailure(onFailure) }
}

/** Of a policy that says nothing about what follows a failure. */
export function canonicalItemPolicy(input: PolicyInput, { breakers }: Plan): Json {
  const { jitter, breaker, failIf: _, ...others } = normalizePolicy(input).policy
  return canonical({
    ...others,
    jitter: jitter === 'none' ? false : jitter,
    breaker: sharedName(breaker, breakers) ?? breaker,
  })
}

/** A declared breaker is known by its name: what changes in it has changed in the document. */
function sharedName(breaker: Policy['breaker'], breakers: Plan['breakers']): string | undefined {
  return breaker?.key !== undefined && Object.hasOwn(breakers, breaker.key) ? breaker.key : undefined
}

function canonicalFailure(action: FailureAction): Json {
  if (typeof action === 'string') return action
  return { fallback: { command: action.fallback.command }, [THEN.name]: action.afterwards }
}

export function canonicalInterrupt(action: InterruptAction): Json {
  if (typeof action === 'string') return action
  return { verify: action.verify.kind === 'shell' ? action.verify.command : action.verify.argv }
}

/** As files spell it: `max_delay: 30s` for `maxDelayMs: 30000`. */
function canonical(value: unknown, isTime = false): Json {
  if (Array.isArray(value)) return value.map((item) => canonical(item, isTime))
  if (typeof value === 'number' && isTime) return formatDuration(value)
  if (typeof value !== 'object' || value === null) return value as Json
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(
    entries.map(([key, item]) => [snakeCase(key.replace(/Ms$/, '')), canonical(item, key.endsWith('Ms'))]),
  )
}
