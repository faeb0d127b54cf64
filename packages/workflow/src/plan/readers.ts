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
  referencesIn(text: string): References
}

export interface Readers {
  readonly template: TextReader
  readonly shell: TextReader
  checkExpression(text: string): References
  /** Nothing is ever found: whoever would look need not. */
  readonly isBlind?: boolean
}

const BLIND: TextReader = { referencesIn: () => ({ names: [] }) }

/** Sees no reference in any text, so that none is checked. */
export const BLIND_READERS: Readers = {
  template: BLIND,
  shell: BLIND,
  checkExpression: () => ({ names: [] }),
  isBlind: true,
}
