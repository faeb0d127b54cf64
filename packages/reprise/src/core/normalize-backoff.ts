/**
 * The three ways to write a backoff (a word, `{exponential: {base: 3}}`, `{type: exponential, base: 3}`) into one form.
 * Imports core only.
 */
import { duration, entriesOf, list, numeric, readFields, typed, word, type Entries, type Schema } from './fields.js'
import { compileFormula } from './formula.js'
import type { Backoff } from './policy.js'
import type { Place } from './problems.js'

interface Parameters {
  readonly incrementMs?: number
  readonly base?: number
  readonly delaysMs?: readonly number[]
  readonly formula?: string
}

/** A backoff but for the increment that follows from the initial delay, which may be written later. */
export interface BackoffDraft extends Parameters {
  readonly type: Backoff['type']
}

const TYPES = ['fixed', 'linear', 'exponential', 'fibonacci', 'custom'] as const

const PARAMETERS: Readonly<Record<Backoff['type'], Partial<Schema<Parameters>>>> = {
  fixed: {},
  linear: { incrementMs: [duration] },
  exponential: { base: [readBase, 2] },
  fibonacci: {},
  custom: { delaysMs: [(value, place) => list(value, place, 1, duration)], formula: [readFormula] },
}

export function readBackoff(value: unknown, place: Place): BackoffDraft | undefined {
  if (typeof value === 'string') return build(value, place, new Map(), place)
  const entries = entriesOf(value, place)
  if (entries?.has('type')) {
    const type = entries.get('type')
    entries.delete('type')
    return build(type, place.at('type'), entries, place)
  }
  const [key, ...others] = entries?.keys() ?? []
  if (key === undefined || others.length > 0) return entries && place.fail(`needs exactly one of ${TYPES.join(', ')}`)
  const inner = place.at(key)
  return build(key, inner, entriesOf(entries?.get(key) ?? {}, inner), inner)
}

function build(name: unknown, namePlace: Place, entries: Entries | undefined, place: Place): BackoffDraft | undefined {
  const type = word(name, namePlace, TYPES)
  if (type === undefined) return undefined
  const either = type === 'custom' ? (['delaysMs', 'formula'] as const) : undefined
  return { type, ...readFields(entries, place, PARAMETERS[type] as Schema<Parameters>, either) }
}

export function finishBackoff(draft: BackoffDraft, initialDelayMs: number): Backoff {
  const increment = draft.type === 'linear' ? { incrementMs: initialDelayMs } : undefined
  return Object.freeze({ ...increment, ...draft }) as Backoff
}

function readBase(value: unknown, place: Place): number | undefined {
  return numeric(value, place, (n) => n > 0 && n <= Number.MAX_SAFE_INTEGER, 'a finite number above 0')
}

function readFormula(value: unknown, place: Place): string | undefined {
  const text = typed<string>(value, place, 'string')
  const formula = text === undefined ? undefined : compileFormula(text)
  if (typeof formula !== 'object') return text
  return place.fail(`at character ${formula.at + 1}: ${formula.problem}`)
}
