/**
 * What an expression's tree says before anything is evaluated: the values that it names, how deep its loops nest, and
 * where its text must be written otherwise for the language. Imports types of the expression language.
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import { LENGTH_WORDS } from './reference.js'

export interface ExpressionFacts {
  /** As written, up to the first call: `steps.fetch.exit_code`, `items`. */
  readonly names: ReadonlySet<string>
  readonly roots: ReadonlySet<string>
  /** How many loops run within each other. */
  readonly loopDepth: number
  /** Functions that are called, with the offset. */
  readonly calls: readonly { readonly name: string; readonly offset: number }[]
  readonly edits: readonly Edit[]
  /** Names that are compared with a number, as in `retries > 3`. */
  readonly numeric: ReadonlySet<string>
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Place {
  /** Variables of the loops around it. */
  readonly bound: ReadonlySet<string>
  readonly depth: number
  /** What `has(…)` asks for may be missing, also a `count`. */
  readonly isAsked: boolean
}

interface Chain {
  readonly root: ASTNode & { readonly op: 'id' }
  readonly text: string
  readonly lengths: readonly Edit[]
}

/** `items.count` becomes `items.reprise_length("count")`: the language itself has fields of objects alone. */
export const LENGTH_CALL = 'reprise_length'

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])
/** To the language they are types; values may be called so all the same, and are meant but in `type(x) == list`. */
const TYPE_NAMES: ReadonlySet<string> = new Set(
  'bool bytes double dyn int list map null_type string type uint'.split(' '),
)

/** What a value is called in the text that is evaluated. */
export function nameInLanguage(root: string): string {
  return TYPE_NAMES.has(root) ? `reprise_value_${root}` : root
}

/** `isBuiltIn`: names of the language itself. */
export function factsOf(ast: ASTNode, isBuiltIn: (name: string) => boolean): ExpressionFacts {
  const reader = new FactReader(isBuiltIn)
  reader.visit(ast, { bound: new Set(), depth: 0, isAsked: false })
  return reader
}

class FactReader implements ExpressionFacts {
  readonly names: Set<string>
  readonly roots: Set<string>
  readonly calls: { name: string; offset: number }[]
  readonly edits: Edit[]
  readonly numeric: Set<string>
  loopDepth: number
  readonly #isBuiltIn: (name: string) => boolean

  constructor(isBuiltIn: (name: string) => boolean) {
    this.names = new Set()
    this.roots = new Set()
    this.calls = []
    this.edits = []
    this.numeric = new Set()
    this.loopDepth = 0
    this.#isBuiltIn = isBuiltIn
  }

  visit(node: ASTNode, place: Place): void {
    const chain = chainOf(node)
    if (chain !== undefined) return this.#name(chain, place)
    switch (node.op) {
      case '.':
        if (!place.isAsked) this.edits.push(...lengthEdit(node.args[1], node.end))
        return this.visit(node.args[0], place)
      case 'call':
        this.calls.push({ name: node.args[0], offset: node.start })
        return this.#visitAll(node.args[1], { ...place, isAsked: node.args[0] === 'has' })
      case 'rcall':
        return this.#visitMethod(node.args, node.start, place)
      case 'in':
        if (node.args[1].op !== 'list') this.loopDepth = Math.max(this.loopDepth, place.depth + 1)
        return this.#visitAll(node.args, place)
      case '<':
      case '<=':
      case '>':
      case '>=':
        this.#compare(node.args, place)
        return this.#visitAll(node.args, place)
      case '==':
      case '!=':
        this.#compare(node.args, place)
        return this.#visitAll(
          node.args.filter((arg) => !(arg.op === 'id' && TYPE_NAMES.has(arg.args) && !place.bound.has(arg.args))),
          place,
        )
      default:
        return this.#visitAll(childrenOf(node), place)
    }
  }

  #visitAll(nodes: readonly ASTNode[], place: Place): void {
    for (const node of nodes) this.visit(node, place)
  }

  #visitMethod([name, receiver, args]: [string, ASTNode, ASTNode[]], offset: number, place: Place): void {
    this.calls.push({ name, offset })
    const isLoop = LOOPS.has(name)
    const [variable] = args
    // Not a value but the language's own: `cel.bind(name, value, expression)`.
    if (!(name === 'bind' && receiver.op === 'id')) this.visit(receiver, place)
    if (variable?.op !== 'id' || !(isLoop || name === 'bind')) return this.#visitAll(args, place)
    const depth = isLoop ? place.depth + 1 : place.depth
    this.loopDepth = Math.max(this.loopDepth, depth)
    return this.#visitAll(args.slice(1), { ...place, depth, bound: new Set([...place.bound, variable.args]) })
  }

  #compare([left, right]: readonly ASTNode[], { bound }: Place): void {
    for (const [one, other] of [
      [left, right],
      [right, left],
    ]) {
      const chain = one === undefined ? undefined : chainOf(one)
      if (chain === undefined || chain.lengths.length > 0 || bound.has(chain.root.args)) continue
      if (other !== undefined && isNumber(other)) this.numeric.add(chain.text)
    }
  }

  #name({ root, text, lengths }: Chain, { bound, isAsked }: Place): void {
    if (!isAsked) this.edits.push(...lengths)
    const name = root.args
    if (bound.has(name) || (this.#isBuiltIn(name) && !TYPE_NAMES.has(name))) return
    this.names.add(text)
    this.roots.add(name)
    if (TYPE_NAMES.has(name)) this.edits.push({ start: root.start, end: root.end, text: nameInLanguage(name) })
  }
}

function isNumber(node: ASTNode): boolean {
  if (node.op === '-_') return isNumber(node.args)
  return node.op === 'value' && (typeof node.args === 'bigint' || typeof node.args === 'number')
}

/** A name with fields and constant places; undefined for anything else. */
function chainOf(node: ASTNode): Chain | undefined {
  if (node.op === 'id') return { root: node, text: node.args, lengths: [] }
  if (node.op !== '.' && node.op !== '[]') return undefined
  const holder = chainOf(node.args[0])
  if (holder === undefined) return undefined
  const [, key] = node.args
  if (typeof key === 'string') {
    return { ...holder, text: `${holder.text}.${key}`, lengths: [...holder.lengths, ...lengthEdit(key, node.end)] }
  }
  if (key.op !== 'value' || !(typeof key.args === 'string' || typeof key.args === 'bigint')) return undefined
  const place = typeof key.args === 'string' ? JSON.stringify(key.args) : String(key.args)
  return { ...holder, text: `${holder.text}[${place}]` }
}

function lengthEdit(field: string, end: number): Edit[] {
  return LENGTH_WORDS.has(field) ? [{ start: end - field.length, end, text: `${LENGTH_CALL}("${field}")` }] : []
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '!_':
    case '-_':
      return [node.args]
    case 'map':
      return node.args.flat()
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    default:
      return node.args
  }
}
