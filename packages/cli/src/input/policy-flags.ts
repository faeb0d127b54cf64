/**
 * The policy of a call as flags give it, with a budget that every client has for itself. Imports the fields and budgets.
 */
import { type BudgetDefinition, readBudgetFlag, readTogether } from '@reprise/workflow/internal'
import type { PolicyFlagTexts } from '../flag-table.js'
import { type PolicyFields, readPolicyFields } from './policy-fields.js'

export interface PolicyFlags {
  readonly fields: PolicyFields
  readonly budget: BudgetDefinition | undefined
}

/** Throws every problem at once. */
export function readPolicyFlags(texts: PolicyFlagTexts & { readonly budget?: string }): PolicyFlags {
  const [fields, budget] = readTogether(
    () => readPolicyFields(texts),
    () => (texts.budget === undefined ? undefined : readBudgetFlag('--budget', texts.budget)),
  )
  return { fields, budget }
}
