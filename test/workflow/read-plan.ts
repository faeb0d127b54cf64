/** The plan of a file, as the command line reads it. Imports the workflow package. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Plan } from '@reprise/workflow'
import { parseSource, planOf, readersFor } from '@reprise/workflow/internal'

export async function readPlan(file: string): Promise<Plan> {
  const source = parseSource(file, await readFile(file, 'utf8'))
  return { ...planOf(source, await readersFor(source)), file: path.resolve(file) }
}
