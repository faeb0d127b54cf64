/** How a plan finds out what texts refer to, without knowing how they are written. Imports nothing. */

export interface References {
  /** As written: `items`, `item.id`, `env.HOME`, `steps.fetch.exit_code`. */
  readonly names: readonly string[]
  /** Of shell text: names in `${name}` that the text itself does not set. */
  readonly unset?: readonly string[]
  /** Of an expression: names that it compares with a number. */
  readonly numeric?: readonly string[]
  /** Present if the text cannot be read. */
  readonly problem?: TextProblem
}

interface TextProblem {
  readonly message: string
  /** In UTF-16 units from the start of the text. */
  readonly offset: number
  readonly suggestion?: string | undefined
}

export interface TextReader {
  /** `local`: names that are known here and not in the whole document. */
  referencesIn(text: string, local?: ReadonlySet<string>): References
  /** What is allowed in the text, and better looked at; in sentences. */
  notesOn?(text: string): readonly string[]
}

export interface Readers {
  readonly template: TextReader
  readonly shell: TextReader
  /** Of an expression that is true or false. */
  checkExpression(text: string): References
  /** Of an expression that may be any value. */
  checkValue(text: string): References
  /** What is wrong with a JSONPath; null if nothing is. */
  jsonPath(text: string): TextProblem | null
  /** Nothing is ever found: whoever would look need not. */
  readonly isBlind?: boolean
}

const BLIND: TextReader = { referencesIn: () => ({ names: [] }) }

/** Sees no reference in any text, so that none is checked. */
export const BLIND_READERS: Readers = {
  template: BLIND,
  shell: BLIND,
  checkExpression: () => ({ names: [] }),
  checkValue: () => ({ names: [] }),
  jsonPath: () => null,
  isBlind: true,
}
