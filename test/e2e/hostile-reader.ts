/**
 * Reads every hostile sample, twice in one process: the parser has been seen to abort it at the second deep one. Prints
 * what was said of each, as JSON.
 */
import { BLIND_READERS, InputError, parseSource, planOf } from '@reprise/workflow'
import { HOSTILE_SAMPLES } from './hostile-samples.js'

function read(text: string): string[] {
  try {
    planOf(parseSource('f.yaml', text), BLIND_READERS)
    return []
  } catch (error) {
    if (error instanceof InputError) return error.problems.slice(0, 3).map(({ message }) => message)
    throw error
  }
}

const results = [1, 2].map(() => HOSTILE_SAMPLES.map(({ name, text }) => ({ name, said: read(text) })))
const polluted = ({} as { polluted?: number }).polluted ?? null
process.stdout.write(JSON.stringify({ results, polluted }))
