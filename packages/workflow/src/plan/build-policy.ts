/**
 * The policy of a step and what follows its failure: its own fields, else the defaults', else what is built in; shared
 * gates filled in. Pure. Imports the plan's types and the merge of fields.
 */
import type { BreakerInput, PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { fieldsOf, mergeFields, withoutFields } from '../document/policy-data.js'
import { camelCase } from '../document/spelling.js'
import { hasFields } from '../document/located.js'
import { shellOf } from './build-action.js'
import type { OnFailureData } from './document-data.js'
import type { FailureAction } from './plan.js'

/** Parts of a policy whose own fields are names of the library too. */
const NESTED = ['breaker', 'budget', 'backoff']

export interface PolicySources {
  readonly retry: Json | undefined
  readonly defaults: Json | undefined
  /** Of the step itself, over that of the defaults. */
  readonly attemptTimeout: string | undefined
  readonly breakers: Readonly<Record<string, BreakerInput>>
  /** Of a breaker that the step has for itself. */
  readonly breakerKey: string
}

export function buildPolicy({ retry, defaults, attemptTimeout, breakers, breakerKey }: PolicySources): PolicyInput {
  const limit = attemptTimeout === undefined ? {} : { attempt_timeout: attemptTimeout }
  if (retry === undefined && defaults === undefined) return inCode({ attempts: 1, ...limit })
  const merged = mergeFields(fieldsOf(defaults ?? {}), fieldsOf(retry ?? {}))
  const policy = { ...(withoutFields(merged, ['on_failure']) as object), ...limit }
  return withBreaker(inCode(policy), breakers, breakerKey)
}

export function buildFailureAction(retry: Json | undefined, defaults: Json | undefined): FailureAction {
  const merged = mergeFields(fieldsOf(defaults ?? {}), fieldsOf(retry ?? {})) as { readonly on_failure?: OnFailureData }
  const { on_failure: action = 'stop' } = merged
  if (typeof action === 'string') return action
  const { fallback, then: afterwards = 'continue' } = action
  return { fallback: shellOf(fallback.command), afterwards }
}

/** As TypeScript spells it. */
export function inCode(fields: object): PolicyInput {
  const entries = Object.entries(fields as Readonly<Record<string, Json>>).map(([key, value]): [string, unknown] => {
    if (NESTED.includes(key) && hasFields(value)) return [key, inCode(value)]
    return [camelCase(key), key === 'retry_on' ? (value as readonly Json[]).map(matcherInCode) : value]
  })
  return Object.fromEntries(entries)
}

function matcherInCode(matcher: Json): unknown {
  return hasFields(matcher) ? inCode(matcher) : matcher
}

function withBreaker(policy: PolicyInput, breakers: PolicySources['breakers'], ownKey: string): PolicyInput {
  const breaker: unknown = policy.breaker
  if (breaker === undefined) return policy
  if (typeof breaker !== 'string') return { ...policy, breaker: { key: ownKey, ...(breaker as BreakerInput) } }
  const name = breaker.trim()
  const declared = Object.hasOwn(breakers, name) ? breakers[name] : undefined
  if (declared === undefined) throw new Error(`breaker ${name} was not declared, and not refused`)
  return { ...policy, breaker: declared }
}
