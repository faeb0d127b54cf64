/**
 * What a path of RFC 9535 does: selectors over nodes, comparisons and functions of filters. Pure; imports patterns.
 *
 * Invariant: only own keys are followed, so `__proto__` and `constructor` are keys like others.
 */
import type { Json } from 'reprise/durable'
import { compileIRegexp } from './iregexp.js'
import { isList } from './reference.js'

/** Puts what it selects of a node behind what is there. */
export type Selector = (node: Json, root: Json, into: Json[]) => void
/** Of a filter, over the node that is tested. */
export type Test = (node: Json, root: Json) => boolean
/** Undefined is the `Nothing` of the RFC. */
export type ValueOf = (node: Json, root: Json) => Json | undefined
type NodesOf = (node: Json, root: Json) => readonly Json[]

/** What stands on a side of a comparison, alone in a filter, or as an argument. */
export type Operand =
  | { readonly type: 'value'; readonly get: ValueOf }
  | { readonly type: 'nodes'; readonly isSingular: boolean; readonly get: NodesOf }
  | { readonly type: 'logical'; readonly get: Test }

/** What a function takes: values, or the nodes of a query. */
export interface PathFunction {
  readonly takes: readonly ('value' | 'nodes')[]
  readonly make: (args: readonly Operand[]) => Operand
}

export function nameSelector(name: string): Selector {
  return (node, _, into) => {
    if (!isObject(node) || !Object.hasOwn(node, name)) return
    into.push(node[name] as Json)
  }
}

export const allSelector: Selector = (node, _, into) => {
  for (const child of childrenOf(node)) into.push(child)
}

export function indexSelector(index: number): Selector {
  return (node, _, into) => {
    const found = isArray(node) ? node.at(index) : undefined
    if (found !== undefined) into.push(found)
  }
}

export function sliceSelector(start: number | null, end: number | null, step: number): Selector {
  return (node, _, into) => {
    if (!isArray(node) || step === 0) return
    const { length } = node
    const place = (at: number): number => (at >= 0 ? at : length + at)
    const clamp = (at: number, least: number, most: number): number => Math.min(Math.max(at, least), most)
    if (step > 0) {
      const last = clamp(place(end ?? length), 0, length)
      for (let at = clamp(place(start ?? 0), 0, length); at < last; at += step) into.push(node[at]!)
    } else {
      const last = end === null ? -1 : clamp(place(end), -1, length - 1)
      for (let at = clamp(place(start ?? length - 1), -1, length - 1); at > last; at += step) into.push(node[at]!)
    }
  }
}

export function filterSelector(test: Test): Selector {
  return (node, root, into) => {
    for (const child of childrenOf(node)) if (test(child, root)) into.push(child)
  }
}

/** All selectors over a node, and with `isDescending` over everything in it, each node before its children. */
export function segment(selectors: readonly Selector[], isDescending: boolean): Selector {
  const visit: Selector = (node, root, into) => {
    for (const select of selectors) select(node, root, into)
    if (isDescending) for (const child of childrenOf(node)) visit(child, root, into)
  }
  return visit
}

/** Segments one after the other, each over what the one before has selected. */
export function querySelector(segments: readonly Selector[]): (start: Json, root: Json) => readonly Json[] {
  return (start, root) => {
    let nodes: readonly Json[] = [start]
    for (const select of segments) {
      const next: Json[] = []
      for (const node of nodes) select(node, root, next)
      nodes = next
    }
    return nodes
  }
}

/** The value that a comparison or a function sees: of a query the only node, else nothing. */
export function valueOf(operand: Operand): ValueOf {
  if (operand.type === 'nodes') return (node, root) => operand.get(node, root)[0]
  return operand.get
}

export function comparison(sign: string, left: ValueOf, right: ValueOf): Test {
  const compare = (test: (a: Json | undefined, b: Json | undefined) => boolean): Test => {
    return (node, root) => test(left(node, root), right(node, root))
  }
  switch (sign) {
    case '==':
      return compare(isEqual)
    case '!=':
      return compare((a, b) => !isEqual(a, b))
    case '<':
      return compare(isLess)
    case '>':
      return compare((a, b) => isLess(b, a))
    case '<=':
      return compare((a, b) => isLess(a, b) || isEqual(a, b))
    default:
      return compare((a, b) => isLess(b, a) || isEqual(a, b))
  }
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isArray(a) || isArray(b)) {
    return isArray(a) && isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  }
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  const fields = (value: Json): Readonly<Record<string, Json>> => value as Readonly<Record<string, Json>>
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(fields(a)[key], fields(b)[key]))
  )
}

function isLess(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  if (typeof a !== 'string' || typeof b !== 'string') return false
  // By characters: the units of a string put U+10000 before U+E000.
  const [left, right] = [Array.from(a), Array.from(b)]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1) return left.length < right.length
  const other = right[at]
  return other !== undefined && left[at]!.codePointAt(0)! < other.codePointAt(0)!
}

export const PATH_FUNCTIONS: Readonly<Record<string, PathFunction>> = {
  length: {
    takes: ['value'],
    make: ([of]) => computed((node, root) => lengthOf(valueOf(of!)(node, root))),
  },
  count: {
    takes: ['nodes'],
    make: ([of]) => computed((node, root) => nodesOf(of!)(node, root).length),
  },
  value: {
    takes: ['nodes'],
    make: ([of]) =>
      computed((node, root) => {
        const nodes = nodesOf(of!)(node, root)
        return nodes.length === 1 ? nodes[0] : undefined
      }),
  },
  match: { takes: ['value', 'value'], make: (args) => patternTest(args, true) },
  search: { takes: ['value', 'value'], make: (args) => patternTest(args, false) },
}

function computed(get: ValueOf): Operand {
  return { type: 'value', get }
}

function nodesOf(operand: Operand): NodesOf {
  return operand.type === 'nodes' ? operand.get : () => []
}

function lengthOf(value: Json | undefined): number | undefined {
  if (typeof value === 'string') return Array.from(value).length
  if (value === undefined) return undefined
  return isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : undefined
}

/** A pattern that cannot be read matches nothing. */
function patternTest([text, pattern]: readonly Operand[], isWhole: boolean): Operand {
  const [textOf, patternOf] = [valueOf(text!), valueOf(pattern!)]
  const get: Test = (node, root) => {
    const [given, source] = [textOf(node, root), patternOf(node, root)]
    if (typeof given !== 'string' || typeof source !== 'string') return false
    return compileIRegexp(source)?.(given, isWhole) ?? false
  }
  return { type: 'logical', get }
}

function childrenOf(node: Json): readonly Json[] {
  if (isArray(node)) return node
  return isObject(node) ? Object.values(node) : []
}

function isArray(node: Json): node is readonly Json[] {
  return isList(node)
}

function isObject(node: Json): node is Readonly<Record<string, Json>> {
  return typeof node === 'object' && node !== null && !Array.isArray(node)
}
