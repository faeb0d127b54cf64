/**
 * Texts with references: `Load ${item.name} into ${env.REGION}`. `$${` is a literal `${`.
 *
 * A value as text: strings as they are, numbers and booleans plainly, null as nothing, lists and objects as JSON. In data
 * (`fillJson`), a string that is one reference and nothing else becomes the value itself. Invariant: what was filled in
 * is never read again, so a value that looks like a reference stays what it is. Imports references.
 */
import type { Json } from 'reprise/durable'
import type { Values } from '../steps/step-context.js'
import { isList, lookUp, readReference, type Reference } from './reference.js'
import { SetupError, TextError } from './setup-error.js'

export interface Template {
  /** Texts and references in turn; never empty texts. */
  readonly parts: readonly (string | Reference)[]
  readonly references: readonly Reference[]
}

/** A thousand references to a large value would be larger than memory. */
const MAX_FILLED = 16 * 1024 * 1024

/** Throws a `TextError` with the offset of what cannot be read. */
export function parseTemplate(text: string): Template {
  const parts: (string | Reference)[] = []
  let literal = ''
  let at = 0
  for (;;) {
    const dollar = text.indexOf('${', at)
    if (dollar === -1) break
    if (text[dollar - 1] === '$' && dollar > at) {
      literal += `${text.slice(at, dollar - 1)}\${`
      at = dollar + 2
      continue
    }
    literal += text.slice(at, dollar)
    if (literal !== '') parts.push(literal)
    literal = ''
    const { reference, end } = readReference(text, dollar)
    parts.push(reference)
    at = end
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return { parts, references: parts.filter((part) => typeof part !== 'string') }
}

/** Throws a `SetupError` if a value is missing. */
export function fillTemplate(template: Template, values: Values): string {
  let filled = ''
  for (const part of template.parts) {
    filled += typeof part === 'string' ? part : textOf(lookUp(values, part))
    if (filled.length > MAX_FILLED) {
      throw new SetupError('too_large', `a text with its values filled in exceeds ${MAX_FILLED} characters`)
    }
  }
  return filled
}

/** Both at once, for texts that are used once. */
export function fillText(text: string, values: Values): string {
  return text.includes('${') ? fillTemplate(parseTemplate(text), values) : text
}

/** Data with the strings within it filled in; keys are left alone. */
export function fillJson(data: Json, values: Values): Json {
  if (typeof data === 'string') {
    if (!data.includes('${')) return data
    const template = parseTemplate(data)
    const [only, ...others] = template.parts
    return typeof only === 'object' && others.length === 0 ? lookUp(values, only) : fillTemplate(template, values)
  }
  if (typeof data !== 'object' || data === null) return data
  if (isList(data)) return data.map((item) => fillJson(item, values))
  // `fromEntries` defines own properties, so that a key `__proto__` is one.
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fillJson(value, values)]))
}

/** For people to read before a run: values that are known are filled in, everything else stays as it is written. */
export function fillKnown(data: Json, values: Values): Json {
  if (typeof data === 'string') return fillKnownText(data, values)
  if (typeof data !== 'object' || data === null) return data
  if (isList(data)) return data.map((item) => fillKnown(item, values))
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fillKnown(value, values)]))
}

function fillKnownText(text: string, values: Values): string {
  let [filled, at] = ['', 0]
  for (let dollar = text.indexOf('${'); dollar !== -1; dollar = text.indexOf('${', at)) {
    const known = text[dollar - 1] === '$' ? undefined : knownReference(text, dollar, values)
    filled += text.slice(at, dollar) + (known?.value ?? '${')
    at = known?.end ?? dollar + 2
  }
  return filled + text.slice(at)
}

/** Undefined for what the shell or a later step gives a value to. */
function knownReference(text: string, start: number, values: Values): { value: string; end: number } | undefined {
  try {
    const { reference, end } = readReference(text, start)
    return { value: textOf(lookUp(values, reference)), end }
  } catch (error) {
    if (error instanceof SetupError || error instanceof TextError) return undefined
    throw error
  }
}

/** Every reference in the strings of data. */
export function referencesInJson(data: Json): readonly Reference[] {
  if (typeof data === 'string') return parseTemplate(data).references
  if (typeof data !== 'object' || data === null) return []
  return (isList(data) ? data : Object.values(data)).flatMap(referencesInJson)
}

export function textOf(value: Json): string {
  if (typeof value === 'string') return value
  return value === null ? '' : JSON.stringify(value)
}
