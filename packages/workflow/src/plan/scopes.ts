/**
 * What texts can refer to where they stand: before each step of a run, and within a map. Kept up to date from step to
 * step rather than made anew for each. Imports the steps of a file.
 */
import type { LocatedStep } from './located-phases.js'
import type { Scope } from './reference-check.js'

/** Beside `item` itself. */
const ITEM_VALUES = ['item_key', 'item_index']
/** Where an attempt works on several items, in place of `item`. */
const BATCH_VALUES = ['items', 'items_file']

export class Scopes {
  private readonly values: Set<string>
  private readonly steps = new Set<string>()
  private readonly maps = new Set<string>()
  private readonly laterValues: Map<string, string>
  private readonly laterSteps: Set<string>
  private readonly texts: Map<string, string>
  private readonly variables: ReadonlySet<string>
  private readonly params: ReadonlySet<string>
  /** Names that are known here and not in the whole document. */
  private readonly local: Set<string> | undefined
  private readonly outer: Scope | undefined
  private readonly isBatch: boolean
  private isOver = false

  /** `outer`: of the map that these are the steps of; `isBatch`: they work on several of its items. */
  constructor(
    params: ReadonlySet<string>,
    steps: readonly LocatedStep[],
    variables: ReadonlySet<string>,
    outer?: Scope,
    isBatch = false,
  ) {
    this.isBatch = isBatch
    const own = isBatch ? BATCH_VALUES : ITEM_VALUES
    this.params = params
    this.variables = variables
    this.outer = outer
    const captures = steps.flatMap(({ capture, id }) => (capture === undefined ? [] : [[capture, id] as const]))
    this.local = outer && new Set([...(isBatch ? [] : ['item']), ...own])
    this.values = new Set([...(outer?.values ?? params), ...(outer === undefined ? [] : own)])
    this.texts = new Map(outer?.texts)
    for (const id of outer?.steps ?? []) this.steps.add(id)
    for (const id of outer?.maps ?? []) this.maps.add(id)
    // The first step that captures it is named.
    this.laterValues = new Map([...(outer?.laterValues ?? []), ...captures.toReversed()])
    this.laterSteps = new Set([...(outer?.laterSteps ?? []), ...steps.map(({ id }) => id)])
  }

  get now(): Scope {
    const { values, steps, maps, laterValues, laterSteps, texts, variables, local } = this
    const place = this.outer === undefined ? 'run' : 'template'
    const { isOver, isBatch } = this
    const scope = { place, values, steps, maps, laterValues, laterSteps, texts, variables, isOver, isBatch } as const
    return local === undefined ? scope : { ...scope, local }
  }

  /** From here on the steps of the run have ended: how, can be referred to. */
  end(): void {
    this.isOver = true
  }

  /** Where items are selected: the map has not begun, and each is looked at alone. */
  get selection(): Scope {
    const none: ReadonlySet<string> = new Set()
    return {
      place: 'selection',
      values: this.params,
      steps: none,
      maps: none,
      laterValues: new Map(),
      laterSteps: none,
      texts: new Map(),
      variables: this.variables,
    }
  }

  /** For the steps that are done for each item, or for several at once. */
  within(steps: readonly LocatedStep[], isBatch = false): Scopes {
    return new Scopes(this.params, steps, this.variables, this.now, isBatch)
  }

  pass({ id, capture, isText, map }: LocatedStep): void {
    this.steps.add(id)
    this.laterSteps.delete(id)
    if (map === undefined) this.maps.delete(id)
    else this.maps.add(id)
    if (capture === undefined) return
    // Two steps may capture one name: it is known to be text only if both do.
    if (!isText) this.texts.delete(capture)
    else if (!this.values.has(capture)) this.texts.set(capture, id)
    this.values.add(capture)
    this.local?.add(capture)
  }
}
