/**
 * The policy that is put to the test: of a file, of flags, of a file with flags over it, or the recommended one.
 * Imports the library, the simulator and what was read.
 */
import {
  type BudgetDefinition,
  type BudgetDefinitions,
  type FoundPolicy,
  snakeCase,
  summarize,
} from '@reprise/workflow/internal'
import { type NormalizedPolicy, normalizePolicy, type Policy, type PolicyInput } from 'reprise'
import { nearest } from 'reprise/internal'
import { type BudgetMaker, type Limits, type Subject, wellKnown } from 'reprise/simulate'
import type { PolicyFlags } from '../input/policy-flags.js'
import { policyInput } from './policy-input.js'

export interface UnderTest {
  readonly subject: Subject
  readonly policy: Policy
  /** The policy in a line. */
  readonly summary: string
  readonly notes: readonly string[]
}

/** What a file says about it. */
export interface FilePolicy {
  readonly title: string
  readonly found: FoundPolicy
  readonly budgets: BudgetDefinitions
  /** Keys that nobody has looked at. */
  readonly unread: readonly string[]
}

/** What it is called in tables; no well-known policy has this name. */
const YOURS = 'yours'
const RECOMMENDED = 'recommended'

export function underTest(file: FilePolicy | undefined, flags: PolicyFlags): UnderTest {
  if (file === undefined && !flags.isPolicy) return recommended(flags.fields)
  const { policy, notes } = readPolicy(file?.found, flags)
  const found = findBudgets(policy, file?.budgets ?? new Map(), flags.budget)
  const budgets = Object.fromEntries(
    [...found.definitions].map(([name, { make }]): [string, BudgetMaker] => [name, make]),
  )
  return {
    subject: { name: YOURS, title: file?.title ?? 'the policy of the flags', policy, budgets },
    policy,
    summary: summarize(policy, (name) => budgetWords(name, found.definitions.get(name))),
    notes: [...notes, ...found.notes, ...(file === undefined ? [] : fileNotes(file))],
  }
}

/** A policy of a file stays as it is unless a flag says otherwise. */
function readPolicy(found: FoundPolicy | undefined, { fields, budget }: PolicyFlags): NormalizedPolicy {
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

/** For every budget that the policy names: the file's, else the flag's, else none. */
function findBudgets(policy: Policy, defined: BudgetDefinitions, flag: BudgetDefinition | undefined): FoundBudgets {
  const names = new Set([policy.budget, policy.hedge?.budget].flatMap((ref) => ref?.name ?? []))
  const definitions = new Map<string, BudgetDefinition>()
  const notes: string[] = []
  for (const name of names) {
    const definition = defined.get(name) ?? flag
    if (definition !== undefined) definitions.set(name, definition)
    else notes.push(missingBudget(name, [...defined.keys()]))
  }
  if (flag !== undefined && ![...definitions.values()].includes(flag)) {
    notes.push(`\`--budget\` is not used: the file defines budget ${policy.budget?.name ?? ''}.`)
  }
  return { definitions, notes }
}

function missingBudget(name: string, defined: readonly string[]): string {
  const near = nearest(name, defined)
  const cure = near === undefined ? 'Define it under `budgets:`, or give `--budget adaptive`.' : `Did you mean ${near}?`
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
