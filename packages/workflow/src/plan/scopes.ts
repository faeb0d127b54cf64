/**
 * What texts can refer to where they stand: before each step of a run, and within a map. Kept up to date from step to
 * step rather than made anew for each. Imports the steps of a file.
 */
import type { StepSpot } from './phase-spots.js'
import type { Scope } from './reference-check.js'

/** Beside `item` itself. */
const ITEM_VALUES = ['item_key', 'item_index']

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
  private isOver = false

  /** `outer`: of the map that these are the steps of. */
  constructor(params: ReadonlySet<string>, steps: readonly StepSpot[], variables: ReadonlySet<string>, outer?: Scope) {
    this.params = params
    this.variables = variables
    this.outer = outer
    const captures = steps.flatMap(({ capture, id }) => (capture === undefined ? [] : [[capture, id] as const]))
    this.local = outer && new Set(['item', ...ITEM_VALUES])
    this.values = new Set([...(outer?.values ?? params), ...(outer === undefined ? [] : ITEM_VALUES)])
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
    const { isOver } = this
    return { place, values, steps, maps, laterValues, laterSteps, texts, variables, isOver, ...(local && { local }) }
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

  /** For the steps that are done for each item. */
  within(steps: readonly StepSpot[]): Scopes {
    return new Scopes(this.params, steps, this.variables, this.now)
  }

  pass({ id, capture, isText, map }: StepSpot): void {
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
