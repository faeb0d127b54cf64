/**
 * The tables as JSON Schema (draft 2020-12), for editors. It accepts what the check accepts, but for what no schema can
 * say: whether a name is declared, a reference known, a pattern well-formed.
 *
 * Other names of a key, and camelCase, are pattern properties: editors know them and do not offer them. Pure. Imports
 * the tables.
 */
import type { Json } from 'reprise/durable'
import { WORKFLOW } from './fields-document.js'
import { JOB } from './fields-job.js'
import { POLICY_FILE } from './fields-policy-file.js'
import type { NameRule } from './names.js'
import {
  type Field,
  type FieldsShape,
  type ForkShape,
  type NumberShape,
  type Shape,
  spellingsOf,
  type TextShape,
} from './shape.js'

/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, Json>>

const AMOUNT = '[0-9]+(?:\\.[0-9]+)?'
const DURATION = `(?:${AMOUNT}d)?(?:${AMOUNT}h)?(?:${AMOUNT}m)?(?:${AMOUNT}s)?(?:${AMOUNT}ms)?$`
const MAX_DURATION_TEXT = 64
/** Beyond these a number cannot be told apart from its neighbours. */
const MAX = Number.MAX_SAFE_INTEGER
const SAFE = { minimum: -MAX, maximum: MAX }

/** The JSON Schema of workflow files, for editors. @example const text = JSON.stringify(workflowSchema(), null, 2) */
export function workflowSchema(): JsonSchema {
  return wholeSchema('Reprise workflow', 'Steps that are retried, and go on where they were after a crash.', WORKFLOW)
}

/** The JSON Schema of files of `mode: job`. */
export function jobSchema(): JsonSchema {
  return wholeSchema('Reprise job', 'Workflows that several datacenters run, with one retry budget for all.', JOB)
}

/**
 * The JSON Schema of a file with a policy alone, as `reprise explain` and `reprise simulate` take it.
 * @example const text = JSON.stringify(policySchema(), null, 2)
 */
export function policySchema(): JsonSchema {
  return wholeSchema('Reprise policy', 'How to retry.', POLICY_FILE)
}

function wholeSchema(title: string, description: string, shape: Shape): JsonSchema {
  const writer = new SchemaWriter()
  // The whole stands at the top, where editors look first, and not behind a reference.
  const schema =
    shape.kind === 'fork'
      ? writer.writeFork(shape)
      : shape.kind === 'fields'
        ? writer.writeFields(shape)
        : writer.write(shape)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    description,
    ...schema,
    $defs: writer.definitions(),
  }
}

class SchemaWriter {
  private readonly defs = new Map<string, JsonSchema>()

  definitions(): JsonSchema {
    return Object.fromEntries(this.defs)
  }

  write(shape: Shape): JsonSchema {
    switch (shape.kind) {
      case 'text':
        return textSchema(shape)
      case 'words':
        return { enum: shape.words }
      case 'number':
        return numberSchema(shape)
      case 'flag':
        return shape.only === undefined ? { type: 'boolean' } : { const: shape.only }
      case 'duration':
        return this.durationSchema(shape.isAboveZero === true)
      case 'data':
        return this.dataSchema()
      case 'empty':
        return { type: 'null' }
      case 'list': {
        const { of, least, most, isUnique } = shape
        const bounds = { ...(least > 0 && { minItems: least }), ...(most !== undefined && { maxItems: most }) }
        return { type: 'array', items: this.write(of), ...bounds, ...(isUnique && { uniqueItems: true }) }
      }
      case 'named':
        return { type: 'object', propertyNames: nameSchema(shape.rule), additionalProperties: this.write(shape.of) }
      case 'fields':
        return this.defined(shape.title.replaceAll(' ', '-'), () => this.writeFields(shape))
      case 'fork':
        return forkSchema(shape, (branch) => this.write(branch))
      case 'either':
        return { anyOf: shape.of.map((one) => this.write(one)) }
    }
  }

  /** Both branches in place. */
  writeFork(shape: ForkShape): JsonSchema {
    return { type: 'object', ...forkSchema(shape, (branch) => this.writeFields(branch)) }
  }

  writeFields(shape: FieldsShape): JsonSchema {
    const properties: [string, JsonSchema][] = []
    const aliases: [string, JsonSchema][] = []
    for (const field of shape.fields) {
      const [name = '', ...others] = spellingsOf(field, shape)
      properties.push([name, this.fieldSchema(field)])
      if (others.length > 0) aliases.push([`^(?:${others.join('|')})$`, this.write(field.shape)])
    }
    const dependent = shape.fields.flatMap(({ name, needs }) => (needs === undefined ? [] : [[name, [needs]]]))
    const rules = presenceRules(shape)
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(aliases.length > 0 && { patternProperties: Object.fromEntries(aliases) }),
      ...(shape.isOpen !== true && { additionalProperties: false }),
      ...(dependent.length > 0 && { dependentRequired: Object.fromEntries(dependent) as JsonSchema }),
      ...(rules.length > 0 && { allOf: rules }),
    }
  }

  private fieldSchema(field: Field): JsonSchema {
    const { doc, default: fallback, examples, shape } = field
    const description = fallback === undefined ? doc : `${doc} Default: ${fallback}.`
    return { description, ...this.write(shape), ...(examples !== undefined && { examples }) }
  }

  private durationSchema(isAboveZero: boolean): JsonSchema {
    const start = isAboveZero ? '^(?=.*[1-9])' : '^(?=.)'
    return this.defined(isAboveZero ? 'duration-above-zero' : 'duration', () => ({
      type: 'string',
      description: 'A length of time: `500ms`, `30s`, `1h30m`.',
      maxLength: MAX_DURATION_TEXT,
      pattern: start + DURATION,
    }))
  }

  /** Anything, but for numbers that cannot be told apart from their neighbours. */
  private dataSchema(): JsonSchema {
    const ref = { $ref: '#/$defs/data' }
    return this.defined('data', () => ({
      anyOf: [
        { type: ['string', 'boolean', 'null'] },
        { type: 'number', ...SAFE },
        { type: 'array', items: ref },
        { type: 'object', additionalProperties: ref },
      ],
    }))
  }

  /** Written once, and referred to. */
  private defined(name: string, make: () => JsonSchema): JsonSchema {
    if (!this.defs.has(name)) {
      // Its place is taken first, so that what is within comes after it.
      this.defs.set(name, {})
      this.defs.set(name, make())
    }
    return { $ref: `#/$defs/${name}` }
  }
}

/** With `if` rather than `anyOf`: an editor then names what is wrong in the group that is meant. */
function forkSchema(
  { key, value, matching, otherwise }: ForkShape,
  write: (branch: FieldsShape) => JsonSchema,
): JsonSchema {
  const said = value === undefined ? {} : { properties: { [key]: { const: value } } }
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: { type: 'object', required: [key], ...said }, then: write(matching), else: write(otherwise) }
}

/** Which keys have to be there, and which not beside each other. */
function presenceRules(shape: FieldsShape): JsonSchema[] {
  const { oneOf = [] } = shape
  const spellings = (names: readonly string[]): readonly string[] =>
    shape.fields.filter(({ name }) => names.includes(name)).flatMap((field) => spellingsOf(field, shape))
  const exactlyOne = (keys: readonly string[]): JsonSchema => {
    return keys.length === 1 ? { required: keys } : { oneOf: keys.map((key) => ({ required: [key] })) }
  }
  const rules = oneOf.length > 0 ? [exactlyOne(spellings(oneOf))] : []
  for (const field of shape.fields) {
    const keys = spellingsOf(field, shape)
    if (field.isRequired === true) rules.push(exactlyOne(keys))
    else if (keys.length > 1 && !oneOf.includes(field.name)) rules.push({ not: { required: keys } })
  }
  return rules
}

function textSchema({ isPlain, mayBeBlank, isLine, isFree, libraryPattern, rule }: TextShape): JsonSchema {
  const type = isPlain ? { type: ['string', 'number', 'boolean'], ...SAFE } : { type: 'string' }
  if (rule !== undefined) return { ...type, ...nameSchema(rule) }
  if (libraryPattern !== undefined) return { ...type, pattern: libraryPattern }
  if (isFree === true && mayBeBlank) return type
  const any = isLine === true ? '[^\\u0000\\r\\n]*' : '[^\\u0000]*'
  return { ...type, pattern: mayBeBlank ? `^${any}$` : `^${any}[^\\s\\u0000]${any}$` }
}

function nameSchema({ pattern, reserved = [] }: NameRule): JsonSchema {
  return { pattern, ...(reserved.length > 0 && { not: { enum: reserved } }) }
}

function numberSchema({ isWhole, least, most = MAX, isAbove, isBelow }: NumberShape): JsonSchema {
  return {
    type: isWhole ? 'integer' : 'number',
    ...(least !== undefined && { [isAbove === true ? 'exclusiveMinimum' : 'minimum']: least }),
    [isBelow === true ? 'exclusiveMaximum' : 'maximum']: most,
  }
}
