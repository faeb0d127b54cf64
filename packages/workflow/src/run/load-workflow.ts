/** From the text of a document to its plan. Imports the document, the plan and the readers of its texts. */
import path from 'node:path'
import { STDIN } from '../document/problem.js'
import { parseSource } from '../document/source.js'
import type { Plan } from '../plan/plan.js'
import { planOf } from '../plan/plan-of.js'
import { readersFor } from '../values/document-readers.js'

/** Options of `loadWorkflow`. */
export interface LoadOptions {
  /**
   * Where the text was read. It names the text in problems, and steps run in its directory.
   * @default none: steps run in the current directory
   * @example { file: 'flows/nightly.yaml' }
   */
  readonly file?: string
}

/**
 * Reads the text of a workflow and gives its plan. Rejects with an `InputError` that has every problem, each with its
 * line and column.
 * @example
 * const nightly = await loadWorkflow('steps:\
 *   - run: [echo, hello]\
 * ')
 */
export async function loadWorkflow(text: string, { file }: LoadOptions = {}): Promise<Plan> {
  if (typeof text !== 'string') throw new TypeError('The first argument of loadWorkflow must be the text of a workflow')
  const source = parseSource(file ?? STDIN, text)
  const plan = planOf(source, await readersFor(source))
  return file === undefined ? plan : { ...plan, file: path.resolve(file) }
}
