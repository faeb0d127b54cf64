/**
 * The steps and maps of a document where they stand in the file, in the order in which they run, with their ids. Reads a
 * document that has not been checked: what is not there is left out. Imports located values and the tables.
 */
import { STEP_LIST_KEYS } from '../document/fields-document.js'
import type { Source } from '../document/source.js'
import { fieldOf, hasFields, itemsOf, type LocatedValue } from '../document/located.js'
import { MAP_ID } from './map-reduce.js'
import { HANDLER_PARTS } from './plan.js'
import { stepIds } from './step-ids.js'

export interface LocatedStep {
  readonly located: LocatedValue
  readonly id: string
  readonly capture: string | undefined
  /** Whether the output is captured as text. */
  readonly isText: boolean
  /** Whether it stands under `on_failure` or `finally`. */
  readonly isHandler?: boolean
  /** Present if it is a map. */
  readonly map?: LocatedMap
}

export interface LocatedMap {
  /** Its fields. */
  readonly located: LocatedValue
  readonly errorPolicy: LocatedValue | undefined
  /** `error_policy` at the other place, where only one may be. */
  readonly otherPolicy: LocatedValue | undefined
  readonly template: readonly LocatedStep[]
  readonly onItemError: readonly LocatedStep[]
}

/** What runs one after the other, however the document spells it. */
export function locatedPhases(source: Source, whole: LocatedValue): readonly LocatedStep[] {
  const handlers = HANDLER_PARTS.flatMap((part) =>
    itemsAt(source, whole, [part]).map((located): Placed => ({ located, isHandler: true })),
  )
  if (!hasFields(whole.data) || whole.data['mode'] !== 'mapreduce') {
    const steps = itemsAt(source, whole, STEP_LIST_KEYS).map((located) => ({ located, ...mapAt(source, located) }))
    return named(source, [...steps, ...handlers])
  }
  const map = fieldOf(source, whole, 'map')
  const inList = (key: string): Placed[] =>
    itemsAt(source, whole, [key]).map((located) => ({ located, ...mapAt(source, located) }))
  const own = map === undefined ? [] : [{ located: map, id: MAP_ID, map: locatedMap(source, map, whole) }]
  return named(source, [...inList('setup'), ...own, ...inList('reduce'), ...inList('merge'), ...handlers])
}

interface Placed {
  readonly located: LocatedValue
  /** Where the document cannot give one. */
  readonly id?: string
  readonly map?: LocatedMap
  readonly isHandler?: boolean
}

function named(source: Source, placed: readonly Placed[]): readonly LocatedStep[] {
  const ids = stepIds(
    placed.map(({ located: { data }, id }) => {
      return id === undefined ? { id: textOf(data, 'id'), name: textOf(data, 'name') } : { id, name: undefined }
    }),
  )
  return placed.map(({ located, map, isHandler }, index) => {
    const id = ids[index] ?? ''
    if (map !== undefined) return { located, id, map, capture: undefined, isText: false }
    const format = textOf(located.data, 'capture_format')
    // A script hands on what it returns, whatever that is.
    const isText = (format === undefined || format === 'text') && fieldOf(source, located, 'script') === undefined
    const found = { located, id, capture: textOf(located.data, 'capture'), isText }
    return isHandler === undefined ? found : { ...found, isHandler }
  })
}

function mapAt(source: Source, step: LocatedValue): Pick<Placed, 'map'> {
  const map = fieldOf(source, step, 'map')
  return map === undefined ? {} : { map: locatedMap(source, map, undefined) }
}

/** Steps of the template and of `on_item_error` have ids of their own among each other. */
function locatedMap(source: Source, located: LocatedValue, whole: LocatedValue | undefined): LocatedMap {
  const template = itemsAt(source, located, ['agent_template'])
  const steps = named(
    source,
    [...template, ...itemsAt(source, located, ['on_item_error'])].map((one) => ({ located: one })),
  )
  const [errorPolicy, otherPolicy] = [whole, located].flatMap((owner) => {
    return (owner && fieldOf(source, owner, 'error_policy')) ?? []
  })
  return {
    located,
    errorPolicy,
    otherPolicy,
    template: steps.slice(0, template.length),
    onItemError: steps.slice(template.length),
  }
}

/** To give several of the keys is refused; what stands in each is looked at all the same. */
function itemsAt(source: Source, owner: LocatedValue, keys: readonly string[]): readonly LocatedValue[] {
  return keys.flatMap((key) => fieldOf(source, owner, key) ?? []).flatMap((list) => itemsOf(source, list))
}

/** As the plan will have it: a number is taken as text. */
function textOf(data: unknown, key: string): string | undefined {
  if (!hasFields(data) || !Object.hasOwn(data, key)) return undefined
  const value = data[key]
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isText && String(value).trim() !== '' ? String(value) : undefined
}
