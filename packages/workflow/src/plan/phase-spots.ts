/**
 * The steps and maps of a document where they stand in the file, in the order in which they run, with their ids. Reads a
 * document that has not been checked: what is not there is left out. Imports spots and the tables.
 */
import { STEP_LIST_KEYS } from '../document/fields-document.js'
import type { Source } from '../document/source.js'
import { fieldOf, hasFields, itemsOf, type Spot } from '../document/spot.js'
import { MAP_ID } from './map-reduce.js'
import { HANDLER_PARTS } from './plan.js'
import { stepIds } from './step-ids.js'

export interface StepSpot {
  readonly spot: Spot
  readonly id: string
  readonly capture: string | undefined
  /** Whether the output is captured as text. */
  readonly isText: boolean
  /** Whether it stands under `on_failure` or `finally`. */
  readonly isHandler?: boolean
  /** Present if it is a map. */
  readonly map?: MapSpot
}

export interface MapSpot {
  /** Its fields. */
  readonly spot: Spot
  readonly errorPolicy: Spot | undefined
  /** `error_policy` at the other place, where only one may be. */
  readonly otherPolicy: Spot | undefined
  readonly template: readonly StepSpot[]
  readonly onItemError: readonly StepSpot[]
}

/** What runs one after the other, however the document spells it. */
export function phaseSpots(source: Source, whole: Spot): readonly StepSpot[] {
  const handlers = HANDLER_PARTS.flatMap((part) =>
    itemsAt(source, whole, [part]).map((spot): Placed => ({ spot, isHandler: true })),
  )
  if (!hasFields(whole.data) || whole.data['mode'] !== 'mapreduce') {
    const steps = itemsAt(source, whole, STEP_LIST_KEYS).map((spot) => ({ spot, ...mapAt(source, spot) }))
    return named(source, [...steps, ...handlers])
  }
  const map = fieldOf(source, whole, 'map')
  const inList = (key: string): Placed[] =>
    itemsAt(source, whole, [key]).map((spot) => ({ spot, ...mapAt(source, spot) }))
  const own = map === undefined ? [] : [{ spot: map, id: MAP_ID, map: mapSpot(source, map, whole) }]
  return named(source, [...inList('setup'), ...own, ...inList('reduce'), ...inList('merge'), ...handlers])
}

interface Placed {
  readonly spot: Spot
  /** Where the document cannot give one. */
  readonly id?: string
  readonly map?: MapSpot
  readonly isHandler?: boolean
}

function named(source: Source, placed: readonly Placed[]): readonly StepSpot[] {
  const ids = stepIds(
    placed.map(({ spot: { data }, id }) => {
      return id === undefined ? { id: textOf(data, 'id'), name: textOf(data, 'name') } : { id, name: undefined }
    }),
  )
  return placed.map(({ spot, map, isHandler }, index) => {
    const id = ids[index] ?? ''
    if (map !== undefined) return { spot, id, map, capture: undefined, isText: false }
    const format = textOf(spot.data, 'capture_format')
    // A script hands on what it returns, whatever that is.
    const isText = (format === undefined || format === 'text') && fieldOf(source, spot, 'script') === undefined
    const found = { spot, id, capture: textOf(spot.data, 'capture'), isText }
    return isHandler === undefined ? found : { ...found, isHandler }
  })
}

function mapAt(source: Source, step: Spot): Pick<Placed, 'map'> {
  const map = fieldOf(source, step, 'map')
  return map === undefined ? {} : { map: mapSpot(source, map, undefined) }
}

/** Steps of the template and of `on_item_error` have ids of their own among each other. */
function mapSpot(source: Source, spot: Spot, whole: Spot | undefined): MapSpot {
  const template = itemsAt(source, spot, ['agent_template'])
  const steps = named(
    source,
    [...template, ...itemsAt(source, spot, ['on_item_error'])].map((one) => ({ spot: one })),
  )
  const [errorPolicy, otherPolicy] = [whole, spot].flatMap((owner) => {
    return (owner && fieldOf(source, owner, 'error_policy')) ?? []
  })
  return {
    spot,
    errorPolicy,
    otherPolicy,
    template: steps.slice(0, template.length),
    onItemError: steps.slice(template.length),
  }
}

/** To give several of the keys is refused; what stands in each is looked at all the same. */
function itemsAt(source: Source, owner: Spot, keys: readonly string[]): readonly Spot[] {
  return keys.flatMap((key) => fieldOf(source, owner, key) ?? []).flatMap((list) => itemsOf(source, list))
}

/** As the plan will have it: a number is taken as text. */
function textOf(data: unknown, key: string): string | undefined {
  if (!hasFields(data) || !Object.hasOwn(data, key)) return undefined
  const value = data[key]
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isText && String(value).trim() !== '' ? String(value) : undefined
}
