/**
 * Whether a reference can mean something at its place: a parameter, what an earlier step captured, `env.NAME`,
 * `steps.ID.exit_code`, `run.id`. Pure. Imports the library's suggestions.
 */
import { nearest } from 'reprise/internal'
import type { Reading } from '../document/shape.js'

/** What is known where a text stands. */
export interface Scope {
  /** Parameters, and captures of earlier steps. */
  readonly values: ReadonlySet<string>
  /** Ids of earlier steps. */
  readonly steps: ReadonlySet<string>
  /** Captures of this step and of later ones, with the step. */
  readonly laterValues: ReadonlyMap<string, string>
  /** Ids of this step and of later ones. */
  readonly laterSteps: ReadonlySet<string>
}

export interface ReferenceFault {
  readonly message: string
  readonly suggestion?: string
}

/** @public `scripts/workflow-reference.mjs` lists them. */
export const STEP_VALUES = ['exit_code', 'status', 'output', 'attempts'] as const
/** @public As `STEP_VALUES`. */
export const RUN_VALUES = ['id', 'name'] as const

/** More than these are neither compared with a misspelt one nor listed. */
const MAX_COMPARED = 500
const MAX_LISTED = 8

const ROOTS = ['env', 'run', 'steps']

/** Undefined if it is known, or is none of ours: in shell text `${HOME}` is the shell's. */
export function faultOfReference(name: string, reading: Reading, scope: Scope): ReferenceFault | undefined {
  const [, root = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(name) ?? []
  // An expression may hold a whole of ours and go on from there.
  if (ROOTS.includes(root) && rest === '' && reading === 'expression') return undefined
  if (root === 'env')
    return rest === '' ? { message: '`env` alone is nothing', suggestion: 'name a variable: `${env.HOME}`' } : undefined
  if (root === 'run') return faultOfField(name, 'run', firstOf(rest), RUN_VALUES)
  if (root === 'steps') return faultOfStep(name, rest, scope)
  if (scope.values.has(root)) return undefined
  // `${a.b}` means nothing to a shell.
  if (reading === 'shell' && !rest.startsWith('.')) return undefined
  return unknownValue(root, rest, scope)
}

function unknownValue(root: string, rest: string, { values, laterValues }: Scope): ReferenceFault {
  const later = laterValues.get(root)
  if (later !== undefined) {
    const message = `\`${root}\` is captured by step ${later}, which has not run then`
    return { message, suggestion: 'a reference is to an earlier step' }
  }
  const inner = firstOf(rest)
  if (root === 'params' && inner !== '') return unknown(`params.${inner}`, `write \`\${${inner}}\``)
  const near = nearest(root, [...[...values].slice(0, MAX_COMPARED), ...ROOTS])
  if (near !== undefined) return unknown(root, `did you mean \`${near}\`?`)
  const known = values.size === 0 ? '' : `; known here: ${[...values].slice(0, MAX_LISTED).join(', ')}`
  return unknown(root, `declare it under \`params:\`, or \`capture\` it in an earlier step${known}`)
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
  return faultOfField(name, `steps.${id}`, firstOf(path.slice(id.length)), STEP_VALUES)
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

/** The first part of `.count[0].x`. */
function firstOf(rest: string): string {
  return /^\.?([^.[]*)/.exec(rest)?.[1] ?? ''
}

function unknown(
  name: string,
  suggestion?: string,
  why = 'no parameter and no earlier step has this name',
): ReferenceFault {
  return { message: `\`${name}\` is unknown: ${why}`, ...(suggestion !== undefined && { suggestion }) }
}
