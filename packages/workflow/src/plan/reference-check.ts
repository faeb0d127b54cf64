/**
 * Whether a reference can mean something at its place: a parameter, what an earlier step captured, `env.NAME`,
 * `steps.ID.exit_code`, `run.id`. Pure. Imports the library's suggestions.
 */
import { nearest } from 'reprise/internal'
import type { Reading } from '../document/shape.js'
import { MAP_ID } from './map-reduce.js'

/** What is known where a text stands. */
export interface Scope {
  /** Among the steps of the run, among those that are done for each item, or where items are selected. */
  readonly place: 'run' | 'template' | 'selection'
  /** Parameters, and captures of earlier steps. */
  readonly values: ReadonlySet<string>
  /** Ids of earlier steps. */
  readonly steps: ReadonlySet<string>
  /** Those of them that are maps. */
  readonly maps: ReadonlySet<string>
  /** Captures of this step and of later ones, with the step. */
  readonly laterValues: ReadonlyMap<string, string>
  /** Ids of this step and of later ones. */
  readonly laterSteps: ReadonlySet<string>
  /** Captures of earlier steps that are text, with the step. */
  readonly texts: ReadonlyMap<string, string>
  /** Variables that the document puts into the environment. */
  readonly variables: ReadonlySet<string>
  /** Whether the steps of the run have ended: in `on_failure` and `finally`. */
  readonly isOver?: boolean
  /** Whether an attempt works on several items: then there is no `item`. */
  readonly isBatch?: boolean
  /** Names that are known here and not in the whole document. */
  readonly local?: ReadonlySet<string>
}

export interface ReferenceFault {
  readonly message: string
  readonly suggestion?: string
}

/** @public `scripts/workflow-reference.mjs` lists them. */
export const STEP_VALUES = ['exit_code', 'status', 'output', 'attempts'] as const
/** What later steps see of a map. @public As `STEP_VALUES`. */
export const MAP_VALUES = [
  'total',
  'succeeded',
  'failed',
  'skipped',
  'dead',
  'cancelled',
  'undecided',
  'pending',
  'results',
  'results_file',
] as const
/** Other names of theirs. */
export const MAP_VALUE_ALIASES: Readonly<Record<string, (typeof MAP_VALUES)[number]>> = { successful: 'succeeded' }
/** @public As `STEP_VALUES`. */
export const RUN_VALUES = ['id', 'name'] as const
/** Known in `on_failure` and `finally`. @public As `STEP_VALUES`. */
export const END_VALUES = ['state', 'failed_step', 'error'] as const

/** More than these are neither compared with a misspelt one nor listed. */
const MAX_COMPARED = 500
const MAX_LISTED = 8

/** Shorter names are near to everything. */
const MIN_SHELL_NAME = 3

/** Constants of other languages, as expressions write them. */
const CONSTANTS: Readonly<Record<string, string>> = {
  nil: 'null',
  none: 'null',
  undefined: 'null',
  null: 'null',
  true: 'true',
  false: 'false',
}

const ROOTS = ['env', 'run', 'steps']
/** What nothing else in a document may be called; `item` where there is one. */
const ITEM_ROOTS = ['item', ...ROOTS]

const NO_VALUE = 'no parameter and no earlier step has this name'
const NOT_SELECTED_BY = 'where items are selected, `item`, parameters and `env` are known'
const NO_ITEM: ReferenceFault = {
  message: '`item` is unknown: there is one only where a map works on its items',
  suggestion: 'refer to it in `agent_template`, `on_item_error`, `filter`, `distinct` or `sort_by` of a map',
}

const NO_ITEM_IN_BATCH: ReferenceFault = {
  message: '`item` is unknown here: with `batch` an attempt works on several items',
  suggestion: 'refer to `items` or `items_file`, or leave `batch` out',
}

/** Undefined if it is known, or is none of ours: in shell text `${HOME}` is the shell's. */
export function faultOfReference(name: string, reading: Reading, scope: Scope): ReferenceFault | undefined {
  const [, root = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(name) ?? []
  // An expression may hold a whole of ours and go on from there.
  if (ROOTS.includes(root) && rest === '' && reading === 'expression') return undefined
  if (root === 'env')
    return rest === '' ? { message: '`env` alone is nothing', suggestion: 'name a variable: `${env.HOME}`' } : undefined
  if (root === 'run') return faultOfRun(name, firstOf(rest), scope)
  if (root === 'steps') return faultOfStep(name, rest, scope)
  if (root === 'map' && rest !== '') return faultOfMap(name, rest, scope)
  if (root === 'map' && reading === 'expression' && scope.maps.has(MAP_ID)) return undefined
  if (root === 'item' && scope.isBatch === true)
    return rest.startsWith('.') || reading !== 'shell' ? NO_ITEM_IN_BATCH : undefined
  if (root === 'item' && (scope.place !== 'run' || rest.startsWith('.') || reading !== 'shell')) {
    return scope.place === 'run' ? NO_ITEM : undefined
  }
  if (scope.values.has(root)) return undefined
  // `${a.b}` means nothing to a shell.
  if (reading === 'shell' && !rest.startsWith('.')) return undefined
  return unknownValue(root, rest, reading, scope)
}

/** Of `${name}` in shell text, where the text does not set the name: undefined if it may well be the shell's own. */
export function faultOfShellName(name: string, scope: Scope): ReferenceFault | undefined {
  const { values, laterValues, variables } = scope
  if (values.has(name) || variables.has(name)) return undefined
  if (name === 'item' && scope.isBatch === true) return NO_ITEM_IN_BATCH
  if (isOfBatch(name, scope)) return noItems(name)
  const own = ` (a variable of the shell is written \`$${name}\`)`
  const later = laterValues.get(name)
  if (later !== undefined) return laterValue(name, later, own)
  // Variables of the environment are written in capitals.
  const candidates = [...values].slice(0, MAX_COMPARED).filter((value) => isCapital(value) || !isCapital(name))
  const near = name.length < MIN_SHELL_NAME ? undefined : nearest(name, candidates)
  return near === undefined ? undefined : unknown(name, `did you mean \`\${${near}}\`?${own}`)
}

function isCapital(name: string): boolean {
  return name === name.toUpperCase()
}

/** Of a name that an expression compares with a number: text equals no number, and cannot be ordered with one. */
export function faultOfNumeric(name: string, { texts }: Scope): ReferenceFault | undefined {
  const step = texts.get(name)
  if (step === undefined && !/^env[.[]/.test(name)) return undefined
  const cure =
    step === undefined
      ? `\`int(${name})\` makes a number of it`
      : `\`capture_format: number\` in step ${step} makes a number of it`
  return { message: `\`${name}\` is text, and is compared with a number`, suggestion: cure }
}

/** Where a map has `batch`, both are among the values. */
function isOfBatch(name: string, { place }: Scope): boolean {
  return place === 'template' && (name === 'items' || name === 'items_file')
}

function noItems(name: string): ReferenceFault {
  const cure = '`batch: 50` beside `agent_template` hands several items to an attempt'
  return unknown(name, cure, 'the map has no `batch`')
}

function laterValue(name: string, step: string, more = ''): ReferenceFault {
  const message = `\`${name}\` is captured by step ${step}, which has not run then`
  return { message, suggestion: `a reference is to an earlier step${more}` }
}

function unknownValue(root: string, rest: string, reading: Reading, scope: Scope): ReferenceFault {
  const { place, values, laterValues } = scope
  const later = laterValues.get(root)
  if (later !== undefined) return laterValue(root, later)
  if (isOfBatch(root, scope)) return noItems(root)
  const word = reading === 'expression' ? CONSTANTS[root.toLowerCase()] : undefined
  if (word !== undefined) return unknown(root, `write \`${word}\``)
  const inner = firstOf(rest)
  if (root === 'params' && inner !== '') return unknown(`params.${inner}`, `write \`\${${inner}}\``)
  const near = nearest(root, [...[...values].slice(0, MAX_COMPARED), ...(place === 'run' ? ROOTS : ITEM_ROOTS)])
  const why = place === 'selection' ? NOT_SELECTED_BY : NO_VALUE
  if (near !== undefined) return unknown(root, `did you mean \`${near}\`?`, why)
  const known = values.size === 0 ? '' : `; known here: ${[...values].slice(0, MAX_LISTED).join(', ')}`
  const cure = place === 'selection' ? '' : ', or `capture` it in an earlier step'
  return unknown(root, `declare it under \`params:\`${cure}${known}`, why)
}

function faultOfStep(name: string, rest: string, scope: Scope): ReferenceFault | undefined {
  const path = rest.replace(/^\[(["'])(.*?)\1\]/, '.$2').replace(/^\./, '')
  const id = idAt(path, scope)
  if (id === undefined) {
    const ids = [...scope.steps, ...scope.laterSteps]
    const near = nearest(firstOf(path), ids.slice(0, MAX_COMPARED))
    const known = ids.length === 0 ? undefined : `the steps are ${ids.slice(0, MAX_LISTED).join(', ')}`
    return unknown(name, near === undefined ? known : `did you mean \`steps.${near}\`?`, 'no step has this id')
  }
  if (!scope.steps.has(id)) {
    return { message: `step ${id} has not run then`, suggestion: 'a reference is to an earlier step' }
  }
  const field = firstOf(path.slice(id.length))
  return scope.maps.has(id)
    ? faultOfMapField(name, `steps.${id}`, field)
    : faultOfField(name, `steps.${id}`, field, STEP_VALUES)
}

/** `${map.total}` is short for `${steps.map.total}`. */
function faultOfMap(name: string, rest: string, scope: Scope): ReferenceFault | undefined {
  if (scope.maps.has(MAP_ID)) return faultOfMapField(name, 'map', firstOf(rest))
  if (scope.place !== 'run' || scope.laterSteps.has(MAP_ID)) {
    return { message: `\`${name}\` is known once the map has ended`, suggestion: 'refer to it in a later step' }
  }
  const [other] = [...scope.maps]
  const cure = other === undefined ? 'there is no map before this step' : `did you mean \`steps.${other}${rest}\`?`
  return unknown(name, cure, 'no map has the id `map`')
}

function faultOfMapField(name: string, owner: string, field: string): ReferenceFault | undefined {
  return Object.hasOwn(MAP_VALUE_ALIASES, field) ? undefined : faultOfField(name, owner, field, MAP_VALUES)
}

/** An id may hold dots, so the longest that fits is meant. */
function idAt(path: string, { steps, laterSteps }: Scope): string | undefined {
  const ends = [...path.matchAll(/[.[]|$/g)].map(({ index }) => path.slice(0, index))
  return ends.toReversed().find((id) => steps.has(id) || laterSteps.has(id))
}

function faultOfField(
  name: string,
  owner: string,
  field: string,
  fields: readonly string[],
): ReferenceFault | undefined {
  if (fields.includes(field)) return undefined
  const near = nearest(field, fields)
  const listed = `it is one of ${fields.map((one) => `\`${owner}.${one}\``).join(', ')}`
  return unknown(name, near === undefined ? listed : `did you mean \`${owner}.${near}\`?`, 'there is no such field')
}

function faultOfRun(name: string, field: string, { isOver }: Scope): ReferenceFault | undefined {
  if (isOver === true) return faultOfField(name, 'run', field, [...RUN_VALUES, ...END_VALUES])
  if (!END_VALUES.some((one) => one === field)) return faultOfField(name, 'run', field, RUN_VALUES)
  const message = `\`${name}\` is known when the steps of the run have ended`
  return { message, suggestion: 'refer to it in the steps of `on_failure` or `finally`' }
}

/** The first part of `.count[0].x`. */
function firstOf(rest: string): string {
  return /^\.?([^.[]*)/.exec(rest)?.[1] ?? ''
}

function unknown(name: string, suggestion?: string, why = NO_VALUE): ReferenceFault {
  return { message: `\`${name}\` is unknown: ${why}`, ...(suggestion !== undefined && { suggestion }) }
}
