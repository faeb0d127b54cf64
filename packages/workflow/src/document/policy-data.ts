/**
 * Policies as plain data, before the library reads them: defaults merged in, what is not theirs taken out.
 * Invariant: works on own keys only and makes them by definition, so no key reaches a prototype. Imports `located`.
 */
import { camelCase } from './spelling.js'
import { hasFields } from './located.js'

/** Field by field, `own` first. `retry: 5` and `retry: false` are numbers of attempts. */
export function mergeFields(defaults: unknown, own: unknown): unknown {
  const [below, above] = [fieldsOf(defaults), fieldsOf(own)]
  const taken = new Set(Object.keys(above).map(camelCase))
  const kept = Object.entries(below).filter(([key]) => !taken.has(camelCase(key)))
  return Object.fromEntries([...kept, ...Object.entries(above)])
}

/** What is left without the fields that are somebody else's. */
export function withoutFields(data: unknown, fields: readonly string[]): unknown {
  if (!hasFields(data)) return data
  return Object.fromEntries(Object.entries(data).filter(([key]) => !fields.includes(key)))
}

export function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  if (hasFields(data)) return data
  return { attempts: data === false ? 1 : data }
}
