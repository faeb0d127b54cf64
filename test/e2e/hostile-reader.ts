/**
 * Reads every hostile sample, twice in one process: the parser has been seen to abort it at the second deep one. Prints
 * what was said of each, as JSON.
 */
import { InputError } from '@reprise/workflow'
import { parseSource, planOf, readersFor } from '@reprise/workflow/internal'
import { HOSTILE_SAMPLES } from './hostile-samples.js'

async function read(text: string): Promise<string[]> {
  try {
    const source = parseSource('f.yaml', text)
    planOf(source, await readersFor(source))
    return []
  } catch (error) {
    if (error instanceof InputError) return error.problems.slice(0, 3).map(({ message }) => message)
    throw error
  }
}

async function readAll(): Promise<object[]> {
  const results: object[] = []
  for (const { name, text } of HOSTILE_SAMPLES) results.push({ name, said: await read(text) })
  return results
}

const results = [await readAll(), await readAll()]
const polluted = ({} as { polluted?: number }).polluted ?? null
process.stdout.write(JSON.stringify({ results, polluted }))
