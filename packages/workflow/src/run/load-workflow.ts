/** From the text of a document to its plan. Imports the document, the plan and the readers of its texts. */
import path from 'node:path'
import { STDIN } from '../document/read-text.js'
import { parseSource } from '../document/source.js'
import type { Plan } from '../plan/plan.js'
import { planOf } from '../plan/plan-of.js'
import { readersFor } from '../values/document-readers.js'

export interface LoadOptions {
  /** Where the text was read. Names it in problems; steps run in its directory. Absent: they run in the current one. */
  readonly file?: string
}

/** Rejects with an `InputError` that has every problem, each with its line and column. */
export async function loadWorkflow(text: string, { file }: LoadOptions = {}): Promise<Plan> {
  const source = parseSource(file ?? STDIN, text)
  const plan = planOf(source, await readersFor(source))
  return file === undefined ? plan : { ...plan, file: path.resolve(file) }
}
