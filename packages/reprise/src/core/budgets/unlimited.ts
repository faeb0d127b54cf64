/**
 * The budget that always allows: a name to hand out before limits are known. Stateless. Imports core only.
 */
import type { Budget } from '../budget.js'
import { ALLOWED } from '../gate.js'

export type Unlimited = Required<Pick<Budget, 'allowAttempt' | 'peek'>>

export function unlimited(): Unlimited {
  return { allowAttempt: () => ALLOWED, peek: () => true }
}
