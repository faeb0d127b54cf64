/**
 * Limits on YAML that hold before it is parsed: the parser recurses, so depth alone could end the process.
 *
 * The lexer of the `yaml` package does not recurse, and its tokens tell how deep the text nests. Invariant: stops at the
 * first limit that is passed, so the work is bounded by the limits and not by the text. Imports the lexer.
 */
import { Lexer } from 'yaml'

export const MAX_DEPTH = 64
export const MAX_ALIASES = 100
/** Of the size of a hundred thousand values with what stands between them. */
export const MAX_TOKENS = 200_000

interface Excess {
  readonly message: string
  readonly offset: number
}

/** The lexer's marks for the start of a document and of a plain or block scalar; they have no place in the text. */
const DOCUMENT = '\u0002'
const SCALAR = '\u001f'
const ERROR = '\u0018'

export function findExcess(text: string): Excess | undefined {
  const nesting = new Nesting()
  let [offset, aliases, tokens, isScalar] = [0, 0, 0, false]
  for (const token of new Lexer().lex(text)) {
    if (token === DOCUMENT || token === SCALAR || token === ERROR) {
      isScalar = token === SCALAR
      continue
    }
    if (!/^[\s#]/.test(token)) {
      if (!isScalar && token.startsWith('*')) aliases++
      tokens++
    }
    if (nesting.after(token, isScalar) > MAX_DEPTH) return { message: `nests deeper than ${MAX_DEPTH} levels`, offset }
    if (aliases > MAX_ALIASES) return { message: `has more than ${MAX_ALIASES} aliases`, offset }
    if (tokens > MAX_TOKENS) return { message: 'has too many values', offset }
    offset += token.length
    isScalar = false
  }
  return undefined
}

/** How deep we are: brackets, and in block style the columns at which the open collections began. */
class Nesting {
  private brackets = 0
  private columns: number[] = []
  private column = 0
  /** Where the key began that a colon may follow. */
  private keyColumn = 0
  private isFresh = true

  after(token: string, isScalar: boolean): number {
    if (this.brackets > 0 || isScalar) this.inside(token, isScalar)
    else this.block(token)
    const lastLine = token.slice(token.lastIndexOf('\n') + 1)
    const isNewLine = lastLine.length < token.length
    this.column = isNewLine ? lastLine.length : this.column + token.length
    if (isNewLine) this.isFresh = true
    return this.brackets + this.columns.length
  }

  private inside(token: string, isScalar: boolean): void {
    if (isScalar) this.value()
    else if (token === '[' || token === '{') this.brackets++
    else if (token === ']' || token === '}') this.brackets--
  }

  private block(token: string): void {
    if (token === '-' || token === '?') {
      // A list may stand at its key's own column: half a column keeps the two apart.
      this.open(this.column + 0.5)
      this.isFresh = true
    } else if (token === ':') {
      this.open(this.keyColumn)
    } else if (token === '[' || token === '{') {
      this.value()
      this.brackets++
    } else if (!/^[\s#]/.test(token)) {
      this.value()
    }
  }

  /** The first value of a line, or after an indicator, may be a key. */
  private value(): void {
    if (!this.isFresh) return
    this.keyColumn = this.column
    this.isFresh = false
  }

  private open(column: number): void {
    while ((this.columns.at(-1) ?? -1) > column) this.columns.pop()
    if (this.columns.at(-1) !== column) this.columns.push(column)
  }
}
