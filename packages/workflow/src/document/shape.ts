/**
 * What may stand at a place of a document, as data. The tables `fields-*.ts` are made of it; the check with positions,
 * the JSON Schema for editors, the reference page and the search for templates all read these tables.
 *
 * No schema library: zod was measured, and takes 73 ms to load, which every command would pay. Imports types and
 * spellings.
 */
import type { Json } from 'reprise/durable'
import type { NameRule } from './names.js'
import { camelCase } from './spelling.js'

export interface Field {
  readonly name: string
  /** A sentence, for editors and for the reference. */
  readonly doc: string
  readonly shape: Shape
  /** What it is when nothing is said, in words. */
  readonly default?: string
  /** Values that are right. */
  readonly examples?: readonly Json[]
  /** Other names of the same field. */
  readonly aliases?: readonly string[]
  readonly isRequired?: boolean
  /** Says nothing without this other field. */
  readonly needs?: string
}

/**
 * What a text is besides text: a template with references, shell text with references, an expression that is true or
 * false, one that may be any value, one of these with a direction behind it, a JSONPath.
 */
export type Reading = 'template' | 'shell' | 'expression' | 'value' | 'sort_key' | 'json_path'

/**
 * Where the library knows the rules, the table only describes them. `library`: a part of something that is checked as a
 * whole.
 */
export type CheckedBy = 'retry' | 'template_retry' | 'item_retry' | 'breaker' | 'budget' | 'library'

export interface TextShape {
  readonly kind: 'text'
  readonly reading?: Reading
  /** Numbers, true and false are taken as they are written. */
  readonly isPlain: boolean
  readonly mayBeBlank: boolean
  readonly rule?: NameRule
  /** May not hold a line break. */
  readonly isLine?: boolean
  /** May hold any character: no program is given it. */
  readonly isFree?: boolean
  /** What the library takes. For the schema alone: the check leaves it to the library. */
  readonly libraryPattern?: string
}

export interface WordsShape {
  readonly kind: 'words'
  readonly words: readonly string[]
}

export interface NumberShape {
  readonly kind: 'number'
  readonly isWhole: boolean
  readonly least?: number
  readonly most?: number
  /** `least` itself is too little. */
  readonly isAbove?: boolean
  /** `most` itself is too much. */
  readonly isBelow?: boolean
}

export interface FlagShape {
  readonly kind: 'flag'
  /** Only this one. */
  readonly only?: boolean
}

export interface DurationShape {
  readonly kind: 'duration'
  readonly isAboveZero?: boolean
}

/** Anything that JSON can hold; strings within may be templates. */
export interface DataShape {
  readonly kind: 'data'
  readonly reading?: Reading
}

/** Nothing at all, where the place itself says what is meant. */
interface EmptyShape {
  readonly kind: 'empty'
}

export interface ListShape {
  readonly kind: 'list'
  readonly of: Shape
  readonly least: number
  readonly most?: number
  readonly isUnique?: boolean
}

/** Keys that people choose. */
export interface NamedShape {
  readonly kind: 'named'
  readonly rule: NameRule
  readonly of: Shape
  readonly example: string
}

/** Keys that we know. */
export interface FieldsShape {
  readonly kind: 'fields'
  /** The name of this group of fields, in the reference and in the schema. */
  readonly title: string
  readonly fields: readonly Field[]
  /** Exactly one of these must be there. */
  readonly oneOf?: readonly string[]
  /** Stand in messages beside `oneOf`: a fork leads elsewhere with them. */
  readonly alsoOneOf?: readonly string[]
  readonly example: string
  /** Keys that we do not know may stand beside them. */
  readonly isOpen?: boolean
  /** Keys may also be spelt in camelCase, as in TypeScript. */
  readonly isCamelToo?: boolean
  readonly checkedBy?: CheckedBy
}

/** One of several, told apart by what they are in JSON. */
export interface EitherShape {
  readonly kind: 'either'
  readonly of: readonly Shape[]
  readonly checkedBy?: CheckedBy
}

/** One of two groups of fields: the first if there is a field `key`, with this value if one is given. */
export interface ForkShape {
  readonly kind: 'fork'
  readonly key: string
  readonly value?: string
  readonly matching: FieldsShape
  readonly otherwise: FieldsShape
}

export type Shape =
  | TextShape
  | WordsShape
  | NumberShape
  | FlagShape
  | DurationShape
  | DataShape
  | EmptyShape
  | ListShape
  | NamedShape
  | FieldsShape
  | EitherShape
  | ForkShape

// ── to write tables with ─────────────────────────────────────────────────────────────────────────

export const duration: DurationShape = { kind: 'duration' }
export const flag: FlagShape = { kind: 'flag' }

export function text(reading?: Reading, more: Partial<TextShape> = {}): TextShape {
  return { kind: 'text', isPlain: false, mayBeBlank: false, ...(reading && { reading }), ...more }
}

/** A value that people write as text, a number or true and false: an argument, a variable. */
export function plain(reading?: Reading, more: Partial<TextShape> = {}): TextShape {
  return text(reading, { isPlain: true, mayBeBlank: true, ...more })
}

export function named(rule: NameRule, of: Shape, example: string): NamedShape {
  return { kind: 'named', rule, of, example }
}

export function words(...among: readonly string[]): WordsShape {
  return { kind: 'words', words: among }
}

export function whole(least: number, most?: number): NumberShape {
  return { kind: 'number', isWhole: true, least, ...(most !== undefined && { most }) }
}

export function list(of: Shape, least = 0, more: Partial<ListShape> = {}): ListShape {
  return { kind: 'list', of, least, ...more }
}

export function either(...of: readonly Shape[]): EitherShape {
  return { kind: 'either', of }
}

/** A field by its name, what it is and what it means. */
export function field(
  name: string,
  shape: Shape,
  doc: string,
  more: Omit<Field, 'name' | 'shape' | 'doc'> = {},
): Field {
  return { name, shape, doc, ...more }
}

/** The group of fields that a value is meant to be. */
export function branchOf({ key, value, matching, otherwise }: ForkShape, data: unknown): FieldsShape {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (!isObject || !Object.hasOwn(data, key)) return otherwise
  return value === undefined || (data as Readonly<Record<string, unknown>>)[key] === value ? matching : otherwise
}

/** By group of fields and spelling, made at the first look: a document may have very many of each. */
const fieldsBySpelling = new WeakMap<FieldsShape, ReadonlyMap<string, Field>>()

/** The field that a key means; undefined if we know none. */
export function fieldFor(shape: FieldsShape, key: string): Field | undefined {
  let fields = fieldsBySpelling.get(shape)
  if (fields === undefined) {
    const entries = shape.fields.flatMap((one) => spellingsOf(one, shape).map((name) => [name, one] as const))
    // Of two with one name the first is meant.
    fields = new Map(entries.toReversed())
    fieldsBySpelling.set(shape, fields)
  }
  return fields.get(key)
}

/** Every name that a field goes by, the right one first. */
export function spellingsOf({ name, aliases = [] }: Field, { isCamelToo = false }: FieldsShape): readonly string[] {
  const camel = isCamelToo ? camelCase(name) : name
  return [name, ...aliases, ...(camel === name ? [] : [camel])]
}
