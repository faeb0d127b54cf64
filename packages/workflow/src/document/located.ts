/**
 * A value of a file together with where it stands, and how to go on from there. Imports the source.
 */
import type { Problem } from './problem.js'
import { isCollection, type Node, pairOf, type Source } from './source.js'

export interface LocatedValue {
  readonly data: unknown
  /** In the file's own spelling: `steps[2].retry`; empty for the whole. */
  readonly path: string
  /** The key that it stands under; absent for the whole file and for the items of a list. */
  readonly name?: string | undefined
  /** Where that key is written. */
  readonly key?: Node | undefined
  readonly node?: Node | undefined
}

export function wholeOf(source: Source): LocatedValue {
  return { data: source.value, path: '', node: source.root ?? undefined }
}

export function hasFields(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data)
}

export function fieldOf(source: Source, located: LocatedValue, key: string): LocatedValue | undefined {
  if (!hasFields(located.data) || !Object.hasOwn(located.data, key)) return undefined
  return new LocatedField(located, located.data[key], key, pairOf(source.resolve(located.node), key))
}

export function itemsOf(source: Source, located: LocatedValue): LocatedValue[] {
  const items: LocatedValue[] = []
  forEachItem(source, located, (item) => items.push(item))
  return items
}

/** One at a time: there may be very many. */
export function forEachItem(source: Source, located: LocatedValue, act: (item: LocatedValue) => void): void {
  const node = source.resolve(located.node)
  const nodes = isCollection(node) ? (node.items as Node[]) : []
  const list = Array.isArray(located.data) ? (located.data as unknown[]) : []
  for (let index = 0; index < list.length; index++) act(new LocatedItem(located, list[index], index, nodes[index]))
}

/** Its path is put together when it is asked for, which is when something is wrong. */
class LocatedField implements LocatedValue {
  readonly data: unknown
  readonly name: string
  readonly key: Node | undefined
  readonly node: Node | undefined
  private readonly within: LocatedValue

  constructor(within: LocatedValue, data: unknown, name: string, pair: ReturnType<typeof pairOf>) {
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

class LocatedItem implements LocatedValue {
  readonly data: unknown
  readonly node: Node | undefined
  private readonly within: LocatedValue
  private readonly index: number

  constructor(within: LocatedValue, data: unknown, index: number, node: Node | undefined) {
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
 * The value at a path such as `retry_on[2].pattern`, as far as the file goes.
 * A key may itself hold dots and brackets, so the file's keys are tried, the longest first.
 */
export function follow(source: Source, located: LocatedValue, path: string): LocatedValue {
  if (path === '') return located
  const index = /^\[(\d+)\]/.exec(path)
  if (index !== null) {
    const item = itemsOf(source, located)[Number(index[1])]
    return item === undefined ? located : follow(source, item, path.slice(index[0].length))
  }
  const rest = path.startsWith('.') ? path.slice(1) : path
  const key = leadingKey(located.data, rest)
  const next = key === undefined ? undefined : fieldOf(source, located, key)
  return next === undefined || key === undefined ? located : follow(source, next, rest.slice(key.length))
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
export function problemOf(
  source: Source,
  located: LocatedValue,
  message: string,
  suggestion?: string,
  atKey = false,
): Problem {
  const range = located.node?.range
  const isSingle = range && range[0] !== range[1] && !isCollection(source.resolve(located.node))
  const node = located.key !== undefined && (atKey || !isSingle) ? located.key : (located.node ?? located.key)
  const details = { message, ...(suggestion !== undefined && { suggestion }) }
  return source.problemAt(node, located.path === '' ? details : { path: located.path, ...details })
}

/** A part of a text: what is written there, and how far behind its start the problem is. */
export interface TextPart {
  readonly written: string
  readonly offset: number
}

/** A problem at a part of a text; undefined if that part does not stand in the file as it is: folded, or with escapes. */
export function problemWithin(
  source: Source,
  located: LocatedValue,
  { written, offset }: TextPart,
  message: string,
  suggestion?: string,
): Problem | undefined {
  const range = located.node?.range
  if (!range || isCollection(located.node)) return undefined
  const index = source.text.slice(range[0], range[1]).indexOf(written)
  if (index === -1) return undefined
  const details = { path: located.path, message, ...(suggestion !== undefined && { suggestion }) }
  return source.problemAt(located.node, details, index + offset)
}

/** How the key of this value is spelt. */
export function keyOf(located: LocatedValue | undefined): string {
  return located?.name ?? ''
}
