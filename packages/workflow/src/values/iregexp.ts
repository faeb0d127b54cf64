/**
 * Patterns of RFC 9485 (I-Regexp), which `match` and `search` of a JSON path take. Imports nothing.
 *
 * The engine's own regular expressions can take for ever over a dozen characters. Here all positions of the pattern are
 * followed at once (Thompson's construction), so a match takes the length of the text times that of the pattern. Single
 * characters and classes are still asked of the engine: one character cannot take long.
 */

type IsCharacter = (character: string) => boolean

/**
 * A position of the pattern: takes a character and continues, or continues in several places without one, perhaps only at
 * the start or the end of the text. RFC 9485 has no such anchors, and the compliance suite of RFC 9535 expects them.
 */
type Node =
  | { readonly takes: IsCharacter; next: Node | null }
  | { readonly forks: (Node | null)[]; readonly only?: 'start' | 'end' }

/** The end of the pattern is null. */
interface Fragment {
  readonly start: Node
  /** Sets what follows. */
  readonly join: (next: Node | null) => void
}

/** Whether the pattern matches the whole text, or a part of it. */
export type IRegexp = (text: string, isWhole: boolean) => boolean

/** `a{1000}{1000}` would be a million positions. */
const MAX_NODES = 5000
const MAX_TEXT = 2000

const LITERAL = /[^.\\?*+{}()[\]|^$]/uy
const ESCAPE = /\\(?:[()*+\-.?[\\\]^nrt{|}$]|[pP]\{[A-Z][a-z]?\})/uy
const CLASS = /\[\^?(?:-|[^\\[\]-]|\\(?:[()*+\-.?[\\\]^nrt{|}$]|[pP]\{[A-Z][a-z]?\}))+\]/uy
const QUANTIFIER = /[*+?]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/uy

const compiled = new Map<string, IRegexp | null>()

/** null: the text is no such pattern, or too large. */
export function compileIRegexp(pattern: string): IRegexp | null {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const made = pattern.length > MAX_TEXT ? null : new PatternReader(pattern).read()
  if (compiled.size > 100) compiled.clear()
  compiled.set(pattern, made)
  return made
}

class PatternReader {
  readonly #pattern: string
  #at = 0
  #nodes = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  read(): IRegexp | null {
    try {
      const { start, join } = this.#alternatives()
      if (this.#at < this.#pattern.length) return null
      join(null)
      return (text, isWhole) => isMatch(start, text, isWhole)
    } catch (error) {
      if (error instanceof SyntaxError) return null
      throw error
    }
  }

  #alternatives(): Fragment {
    const branches = [this.#sequence()]
    while (this.#pattern[this.#at] === '|') {
      this.#at++
      branches.push(this.#sequence())
    }
    if (branches.length === 1) return branches[0]!
    return {
      start: this.#node({ forks: branches.map(({ start }) => start) }),
      join: (next) => branches.forEach(({ join }) => join(next)),
    }
  }

  #sequence(): Fragment {
    let whole = this.#empty()
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at]!)) {
      whole = joined(whole, this.#piece())
    }
    return whole
  }

  /** An atom with its quantifier; `x{2,4}` is read as `xxx?x?`, from its text each time. */
  #piece(): Fragment {
    const start = this.#at
    let fragment = this.#atom()
    const end = this.#at
    const found = this.#token(QUANTIFIER)
    if (!found) return fragment
    const behind = this.#at
    const [sign, count, comma, last] = found
    const least = count === undefined ? (sign === '+' ? 1 : 0) : Number(count)
    const most = count === undefined ? (sign === '?' ? 1 : Infinity) : comma ? Number(last ?? Infinity) : least
    if (most < least) throw new SyntaxError('the range is empty')
    const again = (): Fragment => {
      this.#at = start
      const copy = this.#atom()
      if (this.#at !== end) throw new SyntaxError('unreachable: an atom is read the same each time')
      return copy
    }
    const copies: Fragment[] = []
    for (let i = 0; i < least; i++) copies.push(again())
    if (most === Infinity) copies.push(this.#loop(again()))
    else for (let i = least; i < most; i++) copies.push(this.#optional(again()))
    fragment = copies.reduce(joined, this.#empty())
    this.#at = behind
    return fragment
  }

  #loop({ start, join }: Fragment): Fragment {
    const forks: (Node | null)[] = [start, null]
    const fork = this.#node({ forks })
    join(fork)
    return { start: fork, join: (next) => (forks[1] = next) }
  }

  #optional({ start, join }: Fragment): Fragment {
    const forks: (Node | null)[] = [start, null]
    const joinBoth = (next: Node | null): void => {
      forks[1] = next
      join(next)
    }
    return { start: this.#node({ forks }), join: joinBoth }
  }

  #atom(): Fragment {
    if (this.#pattern[this.#at] === '(') {
      this.#at++
      const inner = this.#alternatives()
      if (this.#pattern[this.#at] !== ')') throw new SyntaxError('a parenthesis is not closed')
      this.#at++
      return inner
    }
    if (this.#pattern[this.#at] === '.') {
      this.#at++
      return this.#taking((character) => character !== '\n' && character !== '\r')
    }
    const anchor = this.#pattern[this.#at]
    if (anchor === '^' || anchor === '$') {
      this.#at++
      return this.#empty(anchor === '^' ? 'start' : 'end')
    }
    const literal = this.#token(LITERAL)
    if (literal) return this.#taking((character) => character === literal[0])
    const set = this.#token(ESCAPE) ?? this.#token(CLASS)
    if (!set) throw new SyntaxError('unexpected')
    // The engine refuses `\-` outside a class, and knows no category that does not exist.
    const tester = new RegExp(`^(?:${set[0] === '\\-' ? '-' : set[0]})$`, 'u')
    return this.#taking((character) => tester.test(character))
  }

  #token(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at
    const found = token.exec(this.#pattern)
    if (found) this.#at = token.lastIndex
    return found
  }

  #taking(takes: IsCharacter): Fragment {
    const node = { takes, next: null as Node | null }
    return { start: this.#node(node), join: (next) => (node.next = next) }
  }

  #empty(only?: 'start' | 'end'): Fragment {
    const forks: (Node | null)[] = [null]
    const node = only === undefined ? { forks } : { forks, only }
    return { start: this.#node(node), join: (next) => (forks[0] = next) }
  }

  #node(node: Node): Node {
    if (++this.#nodes > MAX_NODES) throw new SyntaxError('the pattern is too large')
    return node
  }
}

function joined(first: Fragment, second: Fragment): Fragment {
  first.join(second.start)
  return { start: first.start, join: second.join }
}

function isMatch(start: Node, text: string, isWhole: boolean): boolean {
  let at = 0
  let places = reached([start], true, text === '')
  for (const character of text) {
    if (!isWhole && places.has(null)) return true
    at += character.length
    const next: (Node | null)[] = isWhole ? [] : [start]
    for (const node of places) if (node !== null && 'takes' in node && node.takes(character)) next.push(node.next)
    places = reached(next, false, at === text.length)
    if (places.size === 0) return false
  }
  return places.has(null)
}

/** With everything that is reached without a character. */
function reached(nodes: readonly (Node | null)[], isStart: boolean, isEnd: boolean): ReadonlySet<Node | null> {
  const all = new Set(nodes)
  for (const node of all) {
    if (node === null || 'takes' in node) continue
    if ((node.only === 'start' && !isStart) || (node.only === 'end' && !isEnd)) continue
    for (const next of node.forks) all.add(next)
  }
  return all
}
