/**
 * The budget that always allows: a name to hand out before limits are known. Stateless. Imports core only.
 */
import type { Budget } from '../budget.js'
import { ALLOWED } from '../gate.js'

/** What `unlimited` makes. */
export type Unlimited = Required<Pick<Budget, 'allowAttempt' | 'peek'>>

/**
 * A budget that always allows: a name to use before limits are known.
 * @example const api = createExecutor({ budgets: { api: unlimited() }, defaultPolicy: { budget: 'api' } })
 */
export function unlimited(): Unlimited {
  return { allowAttempt: () => ALLOWED, peek: () => true }
}
