/**
 * Evaluates the part of JSON Schema 2020-12 that our schemas use. A keyword that it does not know is an error, so that
 * nothing of a schema goes untested.
 */
type Schema = Readonly<Record<string, unknown>>

/** Say nothing about values. */
const SILENT = ['$schema', '$defs', 'title', 'description', 'examples', 'then', 'else']

/** Where the value is not what the schema says; empty if it is. */
export function faultsOf(schema: unknown, value: unknown): string[] {
  return evaluate(schema, value, '', schema as Schema)
}

function evaluate(schema: unknown, value: unknown, at: string, root: Schema): string[] {
  if (schema === true) return []
  if (schema === false) return [`${at}: is not allowed`]
  return Object.entries(schema as Schema).flatMap(([keyword, argument]) => {
    if (SILENT.includes(keyword)) return []
    const judge = KEYWORDS[keyword]
    if (judge === undefined) throw new Error(`the evaluator does not know ${keyword}`)
    return judge(argument, value, at, root, schema as Schema)
  })
}

type Judge = (argument: unknown, value: unknown, at: string, root: Schema, schema: Schema) => string[]

const when = (isRight: boolean, at: string, message: string): string[] => (isRight ? [] : [`${at}: ${message}`])
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const matches = (pattern: string, text: string): boolean => new RegExp(pattern, 'u').test(text)
const passes = (schema: unknown, value: unknown, root: Schema): boolean =>
  evaluate(schema, value, '', root).length === 0

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject,
}

/** Says nothing about what is no number. */
const ofNumber =
  (holds: (value: number, argument: number) => boolean): Judge =>
  (argument, value, at) =>
    typeof value === 'number' ? when(holds(value, argument as number), at, `${value} against ${String(argument)}`) : []

const KEYWORDS: Readonly<Record<string, Judge>> = {
  type: (argument, value, at) => {
    const types = (Array.isArray(argument) ? argument : [argument]) as string[]
    return when(
      types.some((type) => TYPES[type]?.(value) ?? false),
      at,
      `is no ${types.join(' or ')}`,
    )
  },
  enum: (argument, value, at) => when((argument as unknown[]).includes(value), at, 'is none of the enum'),
  const: (argument, value, at) => when(argument === value, at, `is not ${String(argument)}`),
  minimum: ofNumber((value, least) => value >= least),
  maximum: ofNumber((value, most) => value <= most),
  exclusiveMinimum: ofNumber((value, least) => value > least),
  exclusiveMaximum: ofNumber((value, most) => value < most),
  pattern: (argument, value, at) =>
    when(typeof value !== 'string' || matches(argument as string, value), at, `does not match ${String(argument)}`),
  format: (argument, value, at) =>
    when(argument !== 'date-time' || typeof value !== 'string' || Number.isFinite(Date.parse(value)), at, 'is no date'),
  maxLength: (argument, value, at) =>
    when(typeof value !== 'string' || value.length <= (argument as number), at, 'is too long'),
  minItems: (argument, value, at) =>
    when(!Array.isArray(value) || value.length >= (argument as number), at, 'has too few items'),
  maxItems: (argument, value, at) =>
    when(!Array.isArray(value) || value.length <= (argument as number), at, 'has too many items'),
  uniqueItems: (_, value, at) =>
    when(
      !Array.isArray(value) || new Set(value.map((item) => JSON.stringify(item))).size === value.length,
      at,
      'twice',
    ),
  items: (argument, value, at, root) =>
    Array.isArray(value) ? value.flatMap((item, index) => evaluate(argument, item, `${at}[${index}]`, root)) : [],
  required: (argument, value, at) =>
    isObject(value) ? (argument as string[]).flatMap((key) => when(Object.hasOwn(value, key), at, `needs ${key}`)) : [],
  dependentRequired: (argument, value, at, root) =>
    isObject(value)
      ? Object.entries(argument as Schema).flatMap(([key, required]) =>
          Object.hasOwn(value, key) ? evaluate({ required }, value, at, root) : [],
        )
      : [],
  properties: (argument, value, at, root) =>
    isObject(value)
      ? Object.entries(argument as Schema).flatMap(([key, inner]) =>
          Object.hasOwn(value, key) ? evaluate(inner, value[key], `${at}.${key}`, root) : [],
        )
      : [],
  patternProperties: (argument, value, at, root) =>
    isObject(value)
      ? Object.entries(argument as Schema).flatMap(([pattern, inner]) =>
          Object.keys(value)
            .filter((key) => matches(pattern, key))
            .flatMap((key) => evaluate(inner, value[key], `${at}.${key}`, root)),
        )
      : [],
  additionalProperties: (argument, value, at, root, schema) =>
    isObject(value)
      ? Object.keys(value)
          .filter((key) => !isDescribed(key, schema))
          .flatMap((key) => evaluate(argument, value[key], `${at}.${key}`, root))
      : [],
  propertyNames: (argument, value, at, root) =>
    isObject(value) ? Object.keys(value).flatMap((key) => evaluate(argument, key, `${at} key ${key}`, root)) : [],
  allOf: (argument, value, at, root) => (argument as unknown[]).flatMap((inner) => evaluate(inner, value, at, root)),
  anyOf: (argument, value, at, root) =>
    when(
      (argument as unknown[]).some((inner) => passes(inner, value, root)),
      at,
      'fits none of anyOf',
    ),
  oneOf: (argument, value, at, root) =>
    when(
      (argument as unknown[]).filter((inner) => passes(inner, value, root)).length === 1,
      at,
      'fits not one of oneOf',
    ),
  if: (argument, value, at, root, schema) =>
    evaluate(schema[passes(argument, value, root) ? 'then' : 'else'] ?? true, value, at, root),
  not: (argument, value, at, root) => when(!passes(argument, value, root), at, 'fits what it must not'),
  $ref: (argument, value, at, root) => {
    const name = (argument as string).replace('#/$defs/', '')
    const definitions = root['$defs'] as Schema
    if (!Object.hasOwn(definitions, name)) throw new Error(`the schema defines no ${name}`)
    return evaluate(definitions[name], value, at, root)
  },
}

function isDescribed(key: string, { properties, patternProperties }: Schema): boolean {
  if (properties !== undefined && Object.hasOwn(properties as object, key)) return true
  return Object.keys(patternProperties ?? {}).some((pattern) => matches(pattern, key))
}
