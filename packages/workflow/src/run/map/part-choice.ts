/**
 * Which items of a map run, when only a part of them is asked for: the first ones, those with given keys, or those that a
 * condition holds for. Imports the library, the items and expressions.
 *
 * Invariant: what it keeps is bounded, however many items there are.
 */
import type { Json } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import { InputDataError } from '../../items/input-data-error.js'
import type { Item } from '../../items/read-items.js'
import type { Values } from '../../steps/step-context.js'
import { compileExpression, type Expression } from '../../values/expression.js'
import { SetupError } from '../../values/setup-error.js'

/** The part that was asked for: items that fit every field. */
interface PartInput {
  /** The first ones, at most this many. */
  readonly sample?: number
  /** Items with one of these keys. */
  readonly only?: readonly string[]
  /** CEL over `item`. */
  readonly where?: string
}

/** Decides of one map, item by item. */
export interface ItemPart {
  takes(item: Item): boolean
  /** After the last item: throws if a key that was asked for is that of none. */
  expectFound(): void
}

/** What decides of each map, with the values that its conditions may name. */
export interface PartChoice {
  choose(values: Values): ItemPart
}

/** Keys that are kept to name a near one, and the length that they are cut to. */
const MOST_KEYS = 10_000
const MOST_KEY_LENGTH = 200
/** Keys that an error names. */
const MOST_NAMED = 5

/** Throws a `TextError` for a condition that is none. */
export async function partChoice(input: PartInput): Promise<PartChoice> {
  const where = input.where === undefined ? undefined : await compileExpression(input.where)
  return { choose: (values) => new ChosenItems(input, where, values) }
}

class ChosenItems implements ItemPart {
  private readonly input: PartInput
  private readonly where: Expression | undefined
  private readonly values: Record<string, Json>
  private readonly missing: Set<string>
  private readonly known: string[] = []
  private taken = 0

  constructor(input: PartInput, where: Expression | undefined, values: Values) {
    this.input = input
    this.where = where
    this.values = { ...values }
    this.missing = new Set(input.only ?? [])
  }

  takes(item: Item): boolean {
    const { sample, only } = this.input
    if (only !== undefined) {
      this.missing.delete(item.key)
      if (this.known.length < MOST_KEYS) this.known.push(item.key.slice(0, MOST_KEY_LENGTH))
    }
    if (sample !== undefined && this.taken >= sample) return false
    if (only !== undefined && !only.includes(item.key)) return false
    if (!this.holdsFor(item)) return false
    this.taken++
    return true
  }

  expectFound(): void {
    const [first, ...others] = this.missing
    if (first === undefined) return
    const keys = [first, ...others].map((key) => JSON.stringify(key))
    const some = keys.slice(0, MOST_NAMED).join(', ')
    const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : ''
    throw new InputDataError('--only', `no item has the key ${some}${more}`, this.cure(first))
  }

  private cure(key: string): string {
    if (this.known.length === 0) return 'the input has no items'
    const near = nearest(key, this.known)
    if (near !== undefined) return `did you mean ${JSON.stringify(near)}?`
    const first = this.known.slice(0, MOST_NAMED).map((known) => JSON.stringify(known))
    return `the first keys are ${first.join(', ')}`
  }

  private holdsFor({ id, value }: Item): boolean {
    if (this.where === undefined) return true
    this.values['item'] = value
    try {
      return this.where.evaluateBoolean(this.values)
    } catch (error) {
      if (!(error instanceof SetupError) || error instanceof InputDataError) throw error
      throw new InputDataError(`item ${id}`, `--where: ${error.message}`, undefined, { cause: error })
    }
  }
}
