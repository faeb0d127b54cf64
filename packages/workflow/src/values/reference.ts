/**
 * References to values, `${item.name}`, and finding what they stand for.
 *
 * `name`, then any number of `.field`, `[0]` and `["any key"]`. Invariant: only own keys are followed, so `__proto__`
 * and `constructor` are keys like others and never reach a prototype. Imports types of the library and its `nearest`.
 */
import { nearest } from 'reprise/internal'
import type { Json } from 'reprise/durable'
import type { Values } from '../steps/step-context.js'
import { SetupError, TextError } from './setup-error.js'

export interface Reference {
  /** As written, without the braces: `steps.fetch.exit_code`. */
  readonly text: string
  /** A number is a place in a list; everything else is a key. */
  readonly path: readonly [string, ...(string | number)[]]
  /** In shell text, `${list[*]}`: each element is a word of its own. */
  readonly areWords?: true
}

export interface ReferenceFound {
  readonly reference: Reference
  /** Behind the closing brace. */
  readonly end: number
}

/** Roots that are always there. On its own such a word is no reference in shell text: `for env in …` is common. */
export const NAMESPACES: ReadonlySet<string> = new Set(['env', 'steps', 'run'])

/** What a list answers to beside places: `items.count`. */
export const LENGTH_WORDS: ReadonlySet<string> = new Set(['count', 'size', 'length'])

const NAME = /[A-Za-z_]\w*/y
const FIELD = /\.(\w[\w-]*)/y
const INDEX = /\[(\d{1,9})\]/y
const KEY = /\[(?:"([^"\n]*)"|'([^'\n]*)')\]/y
const MAX_LISTED = 10
const MAX_SEARCHED = 500

/** The reference that begins with the `${` at `start`; throws a `TextError` for what is none. */
export function readReference(text: string, start: number): ReferenceFound {
  if (text.startsWith('${{', start)) {
    throw new TextError('`${{ … }}` does not exist: write `${name}`, values are never pasted raw', start)
  }
  const begin = start + 2
  let at = begin
  const next = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at
    const found = token.exec(text)
    if (found) at = token.lastIndex
    return found
  }
  const name = next(NAME)
  if (!name) throw new TextError(complaint(text, start, at), at)
  const path: [string, ...(string | number)[]] = [name[0]]
  while (text[at] !== '}') {
    const index = next(INDEX)
    const key = index ?? next(FIELD) ?? next(KEY)
    if (!key) throw new TextError(complaint(text, start, at), at)
    path.push(index ? Number(index[1]) : (key[1] ?? key[2] ?? ''))
  }
  return { reference: { text: text.slice(begin, at), path }, end: at + 1 }
}

function complaint(text: string, start: number, at: number): string {
  // Of a long text not all is searched, each time anew.
  const close = text.slice(start, start + MAX_SEARCHED).indexOf('}')
  if (close === -1) return 'a reference has no closing brace; a literal `${` is written `$${`'
  const whole = text.slice(start, start + close + 1)
  const shown = `\`${whole.length > 60 ? `${whole.slice(0, 59)}…` : whole}\``
  if (close === 2) return `${shown} names nothing: write \`\${name}\`, or \`$\${}\` for the text itself`
  const cure =
    'a reference is a name with fields, such as `${item.id}` or `${list[0]}`; a literal `${` is written `$${`'
  return `${shown} cannot be read at ${JSON.stringify(text[at])}: ${cure}`
}

/** What the reference stands for; throws a `SetupError` that says what is there instead. */
export function lookUp(values: Values, reference: Reference): Json {
  let value: Json = values
  let place = ''
  for (const key of pathIn(values, reference)) {
    const found = stepInto(value, key)
    if (found === undefined) throw new SetupError('missing_value', missing(reference, value, place, key))
    value = found
    place = typeof key === 'number' ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`
  }
  return value
}

/** `item.key` and `item.index`, unless the item has fields of these names. */
const ITEM_NAMES: Readonly<Record<string, string>> = { key: 'item_key', index: 'item_index' }

function itemPath(values: Values, path: Reference['path']): readonly (string | number)[] {
  const [root, key = ''] = path
  const item = Object.hasOwn(values, root) ? values[root]! : null
  const isOwn = typeof item === 'object' && item !== null && Object.hasOwn(item, key)
  const name = isOwn || path.length > 2 ? undefined : ITEM_NAMES[key]
  return name !== undefined && Object.hasOwn(values, name) ? [name] : path
}

/** A step's id may hold dots: `steps.v1.2.exit_code` is of the longest id that fits. */
function pathIn(values: Values, { path }: Reference): readonly (string | number)[] {
  const [root, ...keys] = path
  if (root === 'item') return itemPath(values, path)
  const steps = root === 'steps' && Object.hasOwn(values, root) ? values[root]! : null
  if (typeof steps !== 'object' || steps === null || isList(steps)) return path
  for (let length = keys.length; length > 1; length--) {
    const id = keys.slice(0, length).join('.')
    if (Object.hasOwn(steps, id)) return [root, id, ...keys.slice(length)]
  }
  return path
}

function stepInto(value: Json, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isList(value)) {
    if (typeof key === 'string' && LENGTH_WORDS.has(key)) return value.length
    return typeof key === 'number' || /^\d+$/.test(key) ? value[Number(key)] : undefined
  }
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, Json>>)[key] : undefined
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function missing(reference: Reference, holder: Json, place: string, key: string | number): string {
  const start = `\`\${${reference.text}}\`: `
  const what = typeof key === 'number' ? `[${key}]` : `\`${key}\``
  if (isList(holder)) return `${start}\`${place}\` is a list of ${holder.length} and has no ${what}`
  if (typeof holder !== 'object' || holder === null) {
    const cure = typeof holder === 'string' ? '; `capture_format: json` makes data of a captured text' : ''
    return `${start}\`${place}\` is ${wordFor(holder)} and has no ${what}${cure}`
  }
  const names = Object.keys(holder).toSorted()
  const near = nearest(String(key), names)
  const shown = names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ', …' : '')
  const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
  const list = names.length === 0 ? ' (there is nothing)' : ` (there is: ${shown})`
  return `${start}${place === '' ? `there is no ${what}` : `\`${place}\` has no ${what}`}${hint}${list}`
}

/** For people: what kind of value it is. */
export function wordFor(value: Json): string {
  if (value === null) return 'null'
  if (isList(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'number':
      return 'a number'
    case 'boolean':
      return String(value)
    default:
      return 'an object'
  }
}
