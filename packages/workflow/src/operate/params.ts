/** Parameters as texts, read by what the workflow declares. Imports the library and plans. */
import type { Json } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import type { Plan } from '../plan/plan.js'
import { OperationError } from './operation-error.js'

/** Those that were given, by name. Throws for the first that is unknown or wrong, then for all that are missing. */
export function readParams(
  given: Iterable<readonly [name: string, text: string]>,
  { params }: Plan,
): Record<string, Json> {
  const read: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const [name, text] of given) {
    if (!Object.hasOwn(params, name)) throw unknown(name, Object.keys(params))
    read[name] = valueOf(name, text, params[name] ?? null)
  }
  const names = Object.keys(params).filter((name) => params[name] === null && !Object.hasOwn(read, name))
  if (names.length === 0) return { ...read }
  throw new OperationError('invalid', { code: 'missing_params', names }, `the workflow needs ${names.join(', ')}`)
}

function unknown(name: string, names: readonly string[]): OperationError {
  const near = nearest(name, names)
  const declared = names.length === 0 ? 'it declares none under `params:`' : `it has ${names.join(', ')}`
  const suggestion = near === undefined ? declared : `did you mean ${near}?`
  return new OperationError('invalid', { code: 'unknown_param' }, `the workflow has no parameter ${name}`, suggestion)
}

/** Text, unless the default is of another kind: then what is given must be of that kind. */
function valueOf(name: string, text: string, example: Json): Json {
  if (example === null || typeof example === 'string') return text
  try {
    const value = JSON.parse(text) as Json
    if (kindOf(value) === kindOf(example)) return value
  } catch {
    // Said below.
  }
  throw new OperationError(
    'invalid',
    { code: 'wrong_param', name, text },
    `${name}=${text} is no ${kindOf(example)}`,
    `the default is ${JSON.stringify(example)}`,
  )
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'list' : typeof value
}
