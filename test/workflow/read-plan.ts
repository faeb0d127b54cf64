/** The plan of a file, as the command line reads it. Imports the workflow package. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseSource, type Plan, planOf, readersFor } from '@reprise/workflow'

export async function readPlan(file: string): Promise<Plan> {
  const source = parseSource(file, await readFile(file, 'utf8'))
  return { ...planOf(source, await readersFor(source)), file: path.resolve(file) }
}
