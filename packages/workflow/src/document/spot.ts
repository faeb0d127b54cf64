/**
 * A value of a file together with where it stands, and how to go on from there. Imports the source.
 */
import type { Problem } from './problem.js'
import { isCollection, type Node, pairOf, type Source } from './source.js'

export interface Spot {
  readonly data: unknown
  /** In the file's own spelling: `steps[2].retry`; empty for the whole. */
  readonly path: string
  /** The key that it stands under; absent for the whole file and for the items of a list. */
  readonly name?: string | undefined
  /** Where that key is written. */
  readonly key?: Node | undefined
  readonly node?: Node | undefined
}

export function wholeOf(source: Source): Spot {
  return { data: source.value, path: '', node: source.root ?? undefined }
}

export function hasFields(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data)
}

export function fieldOf(source: Source, spot: Spot, key: string): Spot | undefined {
  if (!hasFields(spot.data) || !Object.hasOwn(spot.data, key)) return undefined
  return new FieldSpot(spot, spot.data[key], key, pairOf(source.resolve(spot.node), key))
}

export function itemsOf(source: Source, spot: Spot): Spot[] {
  const items: Spot[] = []
  forEachItem(source, spot, (item) => items.push(item))
  return items
}

/** One at a time: there may be very many. */
export function forEachItem(source: Source, spot: Spot, act: (item: Spot) => void): void {
  const node = source.resolve(spot.node)
  const nodes = isCollection(node) ? (node.items as Node[]) : []
  const list = Array.isArray(spot.data) ? (spot.data as unknown[]) : []
  for (let index = 0; index < list.length; index++) act(new ItemSpot(spot, list[index], index, nodes[index]))
}

/** Its path is put together when it is asked for, which is when something is wrong. */
class FieldSpot implements Spot {
  readonly data: unknown
  readonly name: string
  readonly key: Node | undefined
  readonly node: Node | undefined
  private readonly within: Spot

  constructor(within: Spot, data: unknown, name: string, pair: ReturnType<typeof pairOf>) {
    this.within = within
    this.data = data
    this.name = name
    this.key = pair?.key
    this.node = pair?.value ?? undefined
  }

  get path(): string {
    const { path } = this.within
    return path === '' ? this.name : `${path}.${this.name}`
  }
}

class ItemSpot implements Spot {
  readonly data: unknown
  readonly node: Node | undefined
  private readonly within: Spot
  private readonly index: number

  constructor(within: Spot, data: unknown, index: number, node: Node | undefined) {
    this.within = within
    this.data = data
    this.index = index
    this.node = node
  }

  get path(): string {
    return `${this.within.path}[${this.index}]`
  }
}

/**
 * The spot at a path such as `retry_on[2].pattern`, as far as the file goes.
 * A key may itself hold dots and brackets, so the file's keys are tried, the longest first.
 */
export function follow(source: Source, spot: Spot, path: string): Spot {
  if (path === '') return spot
  const index = /^\[(\d+)\]/.exec(path)
  if (index !== null) {
    const item = itemsOf(source, spot)[Number(index[1])]
    return item === undefined ? spot : follow(source, item, path.slice(index[0].length))
  }
  const rest = path.startsWith('.') ? path.slice(1) : path
  const key = leadingKey(spot.data, rest)
  const next = key === undefined ? undefined : fieldOf(source, spot, key)
  return next === undefined || key === undefined ? spot : follow(source, next, rest.slice(key.length))
}

function leadingKey(data: unknown, path: string): string | undefined {
  if (!hasFields(data)) return undefined
  // Nearly always it is the whole path: in a map of very many keys that nobody knows, each is asked for.
  if (Object.hasOwn(data, path)) return path
  return Object.keys(data)
    .filter((key) => path.startsWith(key) && /^($|[.[])/.test(path.slice(key.length)))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** A problem of a single value points at the value; one of a key, a list or a map at the key. */
export function problemOf(source: Source, spot: Spot, message: string, suggestion?: string, atKey = false): Problem {
  const range = spot.node?.range
  const isSingle = range && range[0] !== range[1] && !isCollection(source.resolve(spot.node))
  const node = spot.key !== undefined && (atKey || !isSingle) ? spot.key : (spot.node ?? spot.key)
  const details = { message, ...(suggestion !== undefined && { suggestion }) }
  return source.problemAt(node, spot.path === '' ? details : { path: spot.path, ...details })
}

/** A part of a text: what is written there, and how far behind its start the problem is. */
export interface TextPart {
  readonly written: string
  readonly offset: number
}

/** A problem at a part of a text; undefined if that part does not stand in the file as it is: folded, or with escapes. */
export function problemWithin(
  source: Source,
  spot: Spot,
  { written, offset }: TextPart,
  message: string,
  suggestion?: string,
): Problem | undefined {
  const range = spot.node?.range
  if (!range || isCollection(spot.node)) return undefined
  const index = source.text.slice(range[0], range[1]).indexOf(written)
  if (index === -1) return undefined
  const details = { path: spot.path, message, ...(suggestion !== undefined && { suggestion }) }
  return source.problemAt(spot.node, details, index + offset)
}

/** How the key of this spot is spelt. */
export function keyOf(spot: Spot | undefined): string {
  return spot?.name ?? ''
}
