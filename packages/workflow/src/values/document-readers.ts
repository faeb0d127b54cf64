/** Readers for the texts of one document, which names the values that shell text can mean. Imports the readers. */
import type { Source } from '../document/source.js'
import type { Readers } from '../plan/readers.js'
import { loadReaders } from './readers.js'

/** What every step can refer to. */
const ROOTS = ['env', 'steps', 'run']

/** Keys of lists of steps. What a map's own steps capture is known within the map only. */
const STEP_LISTS = ['steps', 'tasks', 'commands', 'setup', 'reduce', 'merge', 'on_failure', 'finally']

export function readersFor({ value, text }: Pick<Source, 'value' | 'text'>): Promise<Readers> {
  const names = new Set([...ROOTS, ...namesIn(value)])
  return loadReaders((name) => names.has(name), text)
}

/** Parameters and captures, as far as the document can be read at all: it has not been checked yet. */
function namesIn(document: unknown): string[] {
  if (!isRecord(document)) return []
  const { params } = document
  const steps = STEP_LISTS.flatMap((key): unknown[] => (Array.isArray(document[key]) ? document[key] : []))
  const captures = steps.flatMap((step) =>
    isRecord(step) && typeof step['capture'] === 'string' ? step['capture'] : [],
  )
  return [...(isRecord(params) ? Object.keys(params) : []), ...captures]
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
