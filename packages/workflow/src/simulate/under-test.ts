/**
 * The policy that is simulated: of a file, of given fields, of a file with fields over it, or the recommended one.
 * Imports the library, the simulator, documents and plans.
 */
import { type NormalizedPolicy, normalizePolicy, type Policy, type PolicyInput } from 'reprise'
import { nearest } from 'reprise/internal'
import { type BudgetMaker, type Limits, type Subject, wellKnown } from 'reprise/simulate'
import type { BudgetDefinition, BudgetDefinitions } from '../document/budget-section.js'
import type { FoundPolicy } from '../plan/found-policies.js'
import { snakeCase } from '../document/spelling.js'
import { summarize } from '../explain/summary.js'
import { policyInput } from '../plan/policy-input.js'
import type { FieldWords } from './field-words.js'
import type { FilePolicy } from './file-policy.js'

export interface UnderTest {
  readonly subject: Subject
  readonly policy: Policy
  /** The policy in a line. */
  readonly summary: string
  readonly notes: readonly string[]
}

/** What is given beside a file, and stands over what the file says. */
export interface GivenPolicy {
  /** Names the policy where there is no file. */
  readonly title: string
  readonly fields: PolicyInput
  /** Of every client, for itself. */
  readonly budget: BudgetDefinition | undefined
}

/** What it is called in tables; no well-known policy has this name. */
const YOURS = 'yours'
const RECOMMENDED = 'recommended'
/** Fields that say only how long callers wait. */
const LIMITS: ReadonlySet<string> = new Set(['attemptTimeout', 'timeout'])

export function underTest(file: FilePolicy | undefined, given: GivenPolicy, words: FieldWords): UnderTest {
  if (file === undefined && !isPolicy(given)) return recommended(given.fields)
  const { policy, notes } = readPolicy(file?.found, given)
  const found = findBudgets(policy, file?.budgets ?? new Map(), given.budget, words)
  const budgets = Object.fromEntries(
    [...found.definitions].map(([name, { make }]): [string, BudgetMaker] => [name, make]),
  )
  return {
    subject: { name: YOURS, title: file?.title ?? given.title, policy, budgets },
    policy,
    summary: summarize(policy, (name) => budgetWords(name, found.definitions.get(name))),
    notes: [...notes, ...found.notes, ...(file === undefined ? [] : fileNotes(file))],
  }
}

/** Whether it says how to retry, rather than only how long callers wait. */
function isPolicy({ fields, budget }: GivenPolicy): boolean {
  return budget !== undefined || Object.keys(fields).some((name) => !LIMITS.has(name))
}

/** A policy of a file stays as it is unless something else is given. */
function readPolicy(found: FoundPolicy | undefined, { fields, budget }: GivenPolicy): NormalizedPolicy {
  const asks = budget !== undefined && found?.policy.budget === undefined ? { budget: budget.type } : {}
  const changes = { ...asks, ...fields }
  if (found !== undefined && Object.keys(changes).length === 0) return found
  return normalizePolicy({ ...(found && policyInput(found.policy)), ...changes })
}

function fileNotes({ unread }: FilePolicy): string[] {
  const keys = unread.map((key) => `\`${key}\``).join(', ')
  return keys === '' ? [] : [`Not looked at: ${keys}.`]
}

/** How long callers wait, where the policy says so: those it is compared with wait as long. */
export function limitsOf({ attemptTimeoutMs, timeoutMs }: Policy): Limits {
  return {
    ...(attemptTimeoutMs !== undefined && { attemptTimeout: attemptTimeoutMs }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  }
}

/** As the simulator knows it, with its limits: the preset's own are too patient for a storm to last. */
function recommended(limits: PolicyInput): UnderTest {
  const subject = wellKnown(limits).find(({ name }) => name === RECOMMENDED)
  if (subject === undefined) throw new Error('the simulator knows no recommended policy')
  const { policy } = normalizePolicy(subject.policy)
  return { subject, policy, summary: summarize(policy), notes: [] }
}

interface FoundBudgets {
  readonly definitions: ReadonlyMap<string, BudgetDefinition>
  readonly notes: readonly string[]
}

/** For every budget that the policy names: the file's, else the given one, else none. */
function findBudgets(
  policy: Policy,
  defined: BudgetDefinitions,
  given: BudgetDefinition | undefined,
  words: FieldWords,
): FoundBudgets {
  const names = new Set([policy.budget, policy.hedge?.budget].flatMap((ref) => ref?.name ?? []))
  const definitions = new Map<string, BudgetDefinition>()
  const notes: string[] = []
  for (const name of names) {
    const definition = defined.get(name) ?? given
    if (definition !== undefined) definitions.set(name, definition)
    else notes.push(missingBudget(name, [...defined.keys()], words))
  }
  if (given !== undefined && ![...definitions.values()].includes(given)) {
    notes.push(`\`${words('budget')}\` is not used: the file defines budget ${policy.budget?.name ?? ''}.`)
  }
  return { definitions, notes }
}

function missingBudget(name: string, defined: readonly string[], words: FieldWords): string {
  const near = nearest(name, defined)
  const cure =
    near === undefined
      ? `Define it under \`budgets:\`, or give \`${words('budget', 'adaptive')}\`.`
      : `Did you mean ${near}?`
  return `Budget ${name} is not defined here, so the policy is simulated without it. ${cure}`
}

function budgetWords(name: string, definition: BudgetDefinition | undefined): string {
  if (definition === undefined) return `${name}, which is not defined`
  const { type, options } = definition
  const words = Object.entries(options).map(([option, value]) => {
    const spelt = snakeCase(option).replaceAll('_', ' ')
    return value === true ? spelt : value === false ? `no ${spelt}` : `${spelt} ${String(value)}`
  })
  const said = [...(name === type ? [] : [type]), ...words].join(', ')
  return said === '' ? name : `${name} (${said})`
}
