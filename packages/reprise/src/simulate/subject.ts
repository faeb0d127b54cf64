/**
 * What is put to the test: a policy, with the budgets it names. Imports core only.
 */
import type { Budget } from '../core/budget.js'
import { IN_CODE, normalizePolicy } from '../core/normalize.js'
import type { Policy, PolicyArgument } from '../core/policy.js'
import type { Random } from '../core/time.js'

/** A budget of one client, made new for it; `random` is seeded. */
export type BudgetMaker = (random: Random) => Budget

/** What a simulation puts to the test: a policy, with the budgets it names. */
export interface Subject {
  /** Its name in the report. */
  readonly name: string
  /** Its name for people. @default `name` @example { title: 'exponential, full jitter' } */
  readonly title?: string
  /** The policy of every call. */
  readonly policy: PolicyArgument
  /**
   * Makes the budgets of each client, by the names that the policy uses.
   * @default none
   * @example { budgets: { api: () => ratioBudget() } }
   */
  readonly budgets?: Readonly<Record<string, BudgetMaker>>
  /** Where the rule and its constants are published. @default none @example { source: 'https://example.com/rule' } */
  readonly source?: string
}

/** A subject made ready: what its clients share. */
export interface ReadySubject {
  readonly name: string
  readonly policy: Policy
  readonly budgets: Readonly<Record<string, BudgetMaker>>
}

export function makeReady(subject: Subject): ReadySubject {
  const { name, budgets = {} } = subject
  return { name, policy: normalizePolicy(subject.policy, IN_CODE).policy, budgets }
}
