/**
 * What an expression's tree says before anything is evaluated: the values that it names, how deep its loops nest, and
 * where it asks for the length of something. Imports types of the expression language.
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import { LENGTH_WORDS } from './reference.js'

export interface ExpressionFacts {
  /** As written, up to the first call: `steps.fetch.exit_code`, `items`. */
  readonly names: ReadonlySet<string>
  readonly roots: ReadonlySet<string>
  /** How many loops run within each other. */
  readonly loopDepth: number
  /** Offsets behind `.count` and the like. */
  readonly lengths: readonly { readonly end: number; readonly word: string }[]
  /** Functions that are called, with the offset. */
  readonly calls: readonly { readonly name: string; readonly offset: number }[]
}

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

/** `isBuiltIn`: names of the language itself, such as `int`. */
export function factsOf(ast: ASTNode, isBuiltIn: (name: string) => boolean): ExpressionFacts {
  const names = new Set<string>()
  const roots = new Set<string>()
  const lengths: { end: number; word: string }[] = []
  const calls: { name: string; offset: number }[] = []
  let loopDepth = 0

  const visit = (node: ASTNode, bound: ReadonlySet<string>, depth: number): void => {
    const chain = chainOf(node)
    if (chain !== undefined) {
      if (!bound.has(chain.root) && !isBuiltIn(chain.root)) {
        names.add(chain.text)
        roots.add(chain.root)
      }
      lengths.push(...chain.lengths)
      return
    }
    const inner = (child: ASTNode): void => visit(child, bound, depth)
    switch (node.op) {
      case '.':
      case '.?':
        if (LENGTH_WORDS.has(node.args[1])) lengths.push({ end: node.end, word: node.args[1] })
        return inner(node.args[0])
      case 'call':
        calls.push({ name: node.args[0], offset: node.start })
        return node.args[0] === 'has' ? visitHas(node.args[1], bound) : node.args[1].forEach(inner)
      case 'rcall': {
        const [name, receiver, args] = node.args
        calls.push({ name, offset: node.start })
        inner(receiver)
        const [variable] = args
        const binds = variable?.op === 'id' && (LOOPS.has(name) || name === 'bind')
        if (!binds) return args.forEach(inner)
        const deeper = LOOPS.has(name) ? depth + 1 : depth
        loopDepth = Math.max(loopDepth, deeper)
        return args.slice(1).forEach((arg) => visit(arg, new Set([...bound, variable.args]), deeper))
      }
      case 'in':
        if (node.args[1].op !== 'list') loopDepth = Math.max(loopDepth, depth + 1)
        return node.args.forEach(inner)
      default:
        return childrenOf(node).forEach(inner)
    }
  }
  /** What is asked for may be missing, also a `count`. */
  const visitHas = (args: readonly ASTNode[], bound: ReadonlySet<string>): void => {
    const before = lengths.length
    for (const arg of args) visit(arg, bound, 0)
    lengths.length = before
  }
  visit(ast, new Set(), 0)
  return { names, roots, loopDepth, lengths, calls }
}

interface Chain {
  readonly root: string
  readonly text: string
  readonly lengths: readonly { readonly end: number; readonly word: string }[]
}

/** A name with fields and constant places; undefined for anything else. */
function chainOf(node: ASTNode): Chain | undefined {
  if (node.op === 'id') return { root: node.args, text: node.args, lengths: [] }
  if (node.op !== '.' && node.op !== '[]') return undefined
  const holder = chainOf(node.args[0])
  if (holder === undefined) return undefined
  const [, key] = node.args
  if (typeof key === 'string') {
    const lengths = LENGTH_WORDS.has(key) ? [...holder.lengths, { end: node.end, word: key }] : holder.lengths
    return { root: holder.root, text: `${holder.text}.${key}`, lengths }
  }
  if (key.op !== 'value' || !(typeof key.args === 'string' || typeof key.args === 'bigint')) return undefined
  const place = typeof key.args === 'string' ? JSON.stringify(key.args) : String(key.args)
  return { ...holder, text: `${holder.text}[${place}]` }
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
