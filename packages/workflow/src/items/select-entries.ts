/**
 * Which entries become items, and in which order: filter, distinct, sort, offset, max_items, in this order. Imports
 * expressions, sorting and the errors of inputs.
 *
 * Without `sort_by` nothing is kept but the values of `distinct`, long ones as a hash. Reading ends with the last item that
 * is wanted.
 */
import { fingerprint } from 'reprise/internal'
import type { Json } from 'reprise/durable'
import type { ItemSelection } from '../plan/map-plan.js'
import type { Values } from '../steps/step-context.js'
import { type Expression, loadExpressions, type ValueExpression } from '../values/expression.js'
import { SetupError } from '../values/setup-error.js'
import { type Entry, type EntryStream, placeOf } from './entry.js'
import { InputDataError } from './input-data-error.js'
import { EntrySorter, type SortOrder } from './sort-entries.js'
import { expectKeepable, itemLength } from './weigh-item.js'

interface Rules {
  readonly filter: Expression | null
  readonly distinct: ValueExpression | null
  readonly orders: readonly SortOrder[]
}

const MAX_KEPT_TEXT = 40

/** `source`: what errors call the input. */
export async function* selectEntries(
  entries: EntryStream,
  selection: ItemSelection,
  values: Values,
  source: string,
): AsyncGenerator<Entry> {
  const { offset, maxItems } = selection
  if (maxItems === 0) return
  const chooser = new Chooser(await rulesOf(selection), values, source)
  let seen = 0
  for await (const group of chooser.isSorting ? sortedGroups(entries, chooser) : entries) {
    for (const entry of group) {
      if (!chooser.isSorting && !chooser.takes(entry)) continue
      if (seen++ < offset) continue
      yield entry
      if (maxItems !== null && seen - offset >= maxItems) return
    }
  }
}

async function* sortedGroups(entries: EntryStream, chooser: Chooser): AsyncGenerator<Iterable<Entry>> {
  for await (const group of entries) for (const entry of group) chooser.takes(entry)
  yield chooser.sorted()
}

async function rulesOf({ filter, distinct, sortBy }: ItemSelection): Promise<Rules> {
  if (filter === null && distinct === null && sortBy.length === 0) return { filter, distinct, orders: [] }
  const expressions = await loadExpressions()
  return {
    filter: filter === null ? null : expressions.compile(filter),
    distinct: distinct === null ? null : expressions.compileValue(distinct),
    orders: sortBy.map(({ expression, isDescending }) => ({
      expression: expressions.compileValue(expression),
      isDescending,
    })),
  }
}

class Chooser {
  readonly #rules: Rules
  readonly #source: string
  readonly #sorter: EntrySorter | null
  readonly #distinct: Set<string>
  /** One object for all entries: of the other values only those that are named are looked at. */
  readonly #scope: Record<string, Json>

  constructor(rules: Rules, values: Values, source: string) {
    this.#rules = rules
    this.#source = source
    this.#sorter = rules.orders.length === 0 ? null : new EntrySorter(rules.orders, source)
    this.#distinct = new Set()
    this.#scope = { ...values }
  }

  get isSorting(): boolean {
    return this.#sorter !== null
  }

  sorted(): readonly Entry[] {
    return this.#sorter?.sorted() ?? []
  }

  /** What is taken is handed to the sorter if there is one. */
  takes(entry: Entry): boolean {
    const place = placeOf(this.#source, entry)
    expectKeepable(entry.value, place)
    this.#scope['item'] = entry.value
    if (!this.#evaluated('filter', place, () => this.#rules.filter?.evaluateBoolean(this.#scope) ?? true)) return false
    if (this.#rules.distinct && !this.#isNew(this.#rules.distinct, place)) return false
    const length = itemLength(entry.value, place)
    this.#evaluated('sort_by', place, () => this.#sorter?.add(entry, this.#scope, length))
    return true
  }

  #isNew(distinct: ValueExpression, place: string): boolean {
    const value = this.#evaluated('distinct', place, () => distinct.evaluate(this.#scope))
    if (value === undefined) {
      const problem = `\`distinct\`: the item has no value for \`${distinct.text}\``
      throw new InputDataError(place, problem, 'leave such items out with `filter: has(…)`')
    }
    const text = typeof value === 'object' && value !== null ? '' : JSON.stringify(value)
    const known = text !== '' && text.length <= MAX_KEPT_TEXT ? text : fingerprint(value)
    if (this.#distinct.has(known)) return false
    this.#distinct.add(known)
    return true
  }

  /** A failure names the item. */
  #evaluated<T>(field: string, place: string, evaluate: () => T): T {
    try {
      return evaluate()
    } catch (error) {
      if (!(error instanceof SetupError) || error instanceof InputDataError) throw error
      throw new InputDataError(place, `\`${field}\`: ${error.message}`, undefined, { cause: error })
    }
  }
}
