/** `--param name=value`, by what the workflow declares. Imports the library and the errors of commands. */
import type { Plan } from '@reprise/workflow'
import { nearest } from 'reprise/internal'
import type { Json } from 'reprise/durable'
import { UsageError } from '../failures.js'

/** Those that were given; a missing one, an unknown one and a wrong one are told. */
export function readParams(given: readonly string[], { params }: Plan): Record<string, Json> {
  const read: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const text of given) {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (at < 1) throw new UsageError(`--param ${text} has no value`, 'write it as --param name=value')
    if (!Object.hasOwn(params, name)) throw unknown(name, Object.keys(params))
    read[name] = valueOf(name, text.slice(at + 1), params[name] ?? null)
  }
  const missing = Object.keys(params).filter((name) => params[name] === null && !Object.hasOwn(read, name))
  if (missing.length === 0) return { ...read }
  const flags = missing.map((name) => `--param ${name}=…`).join(' ')
  throw new UsageError(`the workflow needs ${missing.join(', ')}`, `add ${flags}`)
}

function unknown(name: string, names: readonly string[]): UsageError {
  const near = nearest(name, names)
  const declared = names.length === 0 ? 'it declares none under `params:`' : `it has ${names.join(', ')}`
  return new UsageError(
    `the workflow has no parameter ${name}`,
    near === undefined ? declared : `did you mean ${near}?`,
  )
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
  throw new UsageError(`--param ${name}=${text} is no ${kindOf(example)}`, `the default is ${JSON.stringify(example)}`)
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'list' : typeof value
}
