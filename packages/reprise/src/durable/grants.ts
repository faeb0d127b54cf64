/**
 * What can be granted to a budget that is known by its record alone: it is made again as it was, and does the arithmetic
 * itself. Imports core and the ledger's types.
 */
import { type CountBudgetOptions, countBudget } from '../core/budgets/count.js'
import { type TokenBucketOptions, tokenBucket } from '../core/budgets/token-bucket.js'
import type { GateRecord, Json } from '../ledger/records.js'
import { GateRefusedError } from './errors.js'

export interface Granted {
  readonly after: Json
  /** What was really added. */
  readonly amount: number
}

type Grant = (options: never, state: Json, amount: number, now: number) => Granted

const GRANTS: Readonly<Record<string, Grant>> = {
  count(options: CountBudgetOptions, state, amount) {
    const budget = countBudget(options)
    if (state !== null) budget.restore(state)
    budget.grant(amount)
    return { after: budget.snapshot() as unknown as Json, amount }
  },
  token_bucket(options: TokenBucketOptions, state, amount, now) {
    const budget = tokenBucket(options)
    if (state !== null) budget.restore(state)
    const added = budget.grant(amount, now)
    return { after: budget.snapshot() as unknown as Json, amount: added }
  },
}

const WHICH = 'count (raises what is left) and token_bucket (tokens, up to its capacity) have something to grant'

/** Whether there is anything that a person could give it. */
export function isGrantable(type: string | null): boolean {
  return type !== null && Object.hasOwn(GRANTS, type)
}

export function grantTo(name: string, { settings, state }: GateRecord, amount: number, now: number): Granted {
  const { type, ...options } = (settings ?? {}) as { readonly type?: string }
  if (type === undefined) {
    const cause = 'it does not say, or no attempt has asked it since this version was installed'
    throw refusal(`Of what type the budget ${name} is was not recorded (${cause}): only ${WHICH}`)
  }
  const grant = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined
  if (grant === undefined) throw refusal(`The budget ${name} is of type ${type}: only ${WHICH}`)
  const granted = grant(options as never, state, amount, now)
  if (granted.amount > 0) return granted
  throw refusal(`The budget ${name} is full: there is no room for what would be granted`)
}

function refusal(message: string): GateRefusedError {
  return new GateRefusedError('nothing_to_grant', message)
}
