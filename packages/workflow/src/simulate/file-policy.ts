/** The policy of a file that is to be simulated, with the budgets that the file defines. Imports documents and plans. */
import { type BudgetDefinitions, BUDGETS_KEY, readBudgetSection } from '../document/budget-section.js'
import { isWorkflow } from '../document/policy-file.js'
import { readTogether } from '../document/problem.js'
import type { Source } from '../document/source.js'
import { type FoundPolicy, readPolicies } from '../plan/found-policies.js'
import { pickOnly, pickStep } from '../plan/pick-step.js'
import { readersFor } from '../values/document-readers.js'

export interface FilePolicy {
  readonly title: string
  readonly found: FoundPolicy
  readonly budgets: BudgetDefinitions
  /** Keys of the file that were not checked. */
  readonly unread: readonly string[]
}

/** Without `step` the file has to have one policy. Rejects with every problem at once. */
export async function readFilePolicy(source: Source, step: string | undefined): Promise<FilePolicy> {
  const readers = await readersFor(source)
  const read = [() => readPolicies(source, readers), () => readBudgetSection(source)] as const
  // A workflow is checked whole, its budgets too: what is wrong with them is said once.
  const [policies, budgets] = isWorkflow(source) ? ([read[0](), read[1]()] as const) : readTogether(...read)
  const { file } = source
  const found = step === undefined ? pickOnly(policies, file) : pickStep(policies, step, file)
  const unread = policies.unread.filter((key) => key !== BUDGETS_KEY)
  return { title: found.step === null ? file : `${file} · step ${found.step}`, found, budgets, unread }
}
