/**
 * A YAML or JSON file with positions: its values, and where each stands.
 *
 * Invariants: limits are checked before the parser sees the text; every fault of the syntax is told at once; keys are
 * strings, each at most once in its map; what the text says depends on no setting in it. Imports the `yaml` package.
 */
import { type Document, isAlias, isMap, isScalar, LineCounter, type Node, type Pair, parseDocument } from 'yaml'
import { findExpansion } from './expansion.js'
import { findExcess, MAX_ALIASES } from './limits.js'
import { byPlace, InputError, type Problem } from './problem.js'
import { findYamlPitfalls } from './yaml-pitfalls.js'
import { explainFaults } from './yaml-faults.js'

const OPTIONS = {
  // The parser compares each key with all before it: a map of 100 000 keys takes minutes. We look for twins ourselves.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  // Else `!!binary` makes bytes and `!!timestamp` a date, which JSON has not.
  resolveKnownTags: false,
} as const

/** A file with more errors of syntax is of another kind. */
const MAX_FAULTS = 1000

export interface Source {
  readonly file: string
  readonly text: string
  /** What the file holds, as plain data. */
  readonly value: unknown
  readonly root: Node | null
  /** The node that an alias stands for; any other node itself. */
  resolve(node: unknown): Node | undefined
  /** At the start of the node, or so many characters behind it. */
  problemAt(node: Node | undefined, details: Omit<Problem, 'file' | 'line' | 'column'>, skip?: number): Problem
}

export function parseSource(file: string, text: string): Source {
  const lineCounter = new LineCounter()
  const at = (offset: number, message: string, suggestion?: string): Problem => {
    const { line, col } = lineCounter.linePos(offset)
    const place = { file, line: Math.max(1, line), column: Math.max(1, col) }
    return { ...place, message, ...(suggestion !== undefined && { suggestion }) }
  }
  const lineOf = (node: Node): number => at(node.range?.[0] ?? 0, '').line ?? 1
  const excess = findExcess(text)
  if (excess !== undefined) throw new InputError([{ file, message: excess.message }], text)

  const document = parseDocument(text, { ...OPTIONS, lineCounter })
  const broken = [...document.errors, ...document.warnings].slice(0, MAX_FAULTS)
  const faults = explainFaults(broken, text).map(({ offset, message, suggestion }) => at(offset, message, suggestion))
  for (const { node, message, suggestion, first } of findYamlPitfalls(document)) {
    const before = first === undefined ? undefined : `keep one of them; the first is in line ${lineOf(first)}`
    faults.push(at(node?.range?.[0] ?? 0, message, suggestion ?? before))
  }
  if (faults.length > 0) throw new InputError(faults.toSorted(byPlace), text)

  const value = toPlain(document, file, text)
  const expansion = findExpansion(value)
  if (expansion !== undefined) throw new InputError([{ file, message: expansion }], text)
  return {
    file,
    text,
    value,
    root: document.contents,
    resolve: resolverOf(document),
    problemAt: (node, details, skip = 0) => ({ ...at((node?.range?.[0] ?? 0) + skip, ''), ...details }),
  }
}

/** The parser looks for an alias's node in the whole document, each time. */
function resolverOf(document: Document): Source['resolve'] {
  const known = new Map<unknown, Node | undefined>()
  return (node) => {
    if (!isAlias(node)) return node as Node | undefined
    if (!known.has(node)) known.set(node, node.resolve(document))
    return known.get(node)
  }
}

/** Data that was read before, without lines: what is wrong with it is told by its path alone. */
export function sourceOfData(file: string, value: unknown): Source {
  return {
    file,
    text: '',
    value,
    root: null,
    resolve: () => undefined,
    problemAt: (_node, details) => ({ file, ...details }),
  }
}

/** By map, so that asking for each key of a large one does not look at all of them each time. */
const pairsOf = new WeakMap<object, ReadonlyMap<unknown, Pair<Node, Node | null>>>()

/** The pair of a map that has this key. */
export function pairOf(node: unknown, key: string): Pair<Node, Node | null> | undefined {
  if (!isMap(node)) return undefined
  let pairs = pairsOf.get(node)
  if (pairs === undefined) {
    const scalars = node.items.filter((pair) => isScalar(pair.key)) as Pair<Node, Node | null>[]
    pairs = new Map(scalars.map((pair) => [isScalar(pair.key) ? pair.key.value : undefined, pair]))
    pairsOf.set(node, pairs)
  }
  return pairs.get(key)
}

/** How a number, true or false is written; undefined for anything else, and where there is no text. */
export function sourceTextOf(source: Source, node: Node | undefined): string | undefined {
  const scalar = source.resolve(node)
  return isScalar(scalar) && typeof scalar.value !== 'string' ? scalar.source : undefined
}

function toPlain(document: Document, file: string, text: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    // Aliases of aliases of aliases.
    if (error instanceof ReferenceError)
      throw new InputError([{ file, message: 'aliases multiply beyond measure' }], text)
    throw error
  }
}

export { isCollection, type Node } from 'yaml'
