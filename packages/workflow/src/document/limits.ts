/**
 * Limits on YAML that hold before it is parsed: the parser recurses, so depth alone could end the process.
 *
 * The lexer of the `yaml` package does not recurse, and its tokens tell how deep the text nests. Invariant: stops at the
 * first limit that is passed, so the work is bounded by the limits and not by the text. Imports the lexer.
 */
import { Lexer } from 'yaml'

export const MAX_BYTES = 1024 * 1024
export const MAX_DEPTH = 64
export const MAX_ALIASES = 100
export const MAX_VALUES = 100_000
/** Of the size of so many values with what stands between them. */
export const MAX_TOKENS = 2 * MAX_VALUES
/** Of a document as JSON: aliases written out must not make it much larger than the text was. */
export const MAX_JSON = 4 * MAX_BYTES

export const TOO_LONG = 'is longer than 1 MiB, which no policy or workflow needs'

interface Excess {
  readonly message: string
  readonly offset: number
}

/** The lexer's marks for the start of a document and of a plain or block scalar; they have no place in the text. */
const DOCUMENT = '\u0002'
const SCALAR = '\u001f'
const ERROR = '\u0018'

/** What no text file holds: a program, a picture, an archive. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

export function findExcess(text: string): Excess | undefined {
  // A character is a byte or more.
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES)
    return { message: TOO_LONG, offset: 0 }
  const control = CONTROL.exec(text)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(4, '0')
    return {
      message: `holds the control character U+${code.toUpperCase()}: this is not a text file`,
      offset: control.index,
    }
  }
  const lone = /\r(?!\n)/.exec(text)
  if (lone !== null) return { message: 'has lines that end in a carriage return alone', offset: lone.index }
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
