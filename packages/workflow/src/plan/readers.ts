/** How a plan finds out what texts refer to, without knowing how they are written. Imports nothing. */

export interface References {
  /** As written: `items`, `item.id`, `env.HOME`, `steps.fetch.exit_code`. */
  readonly names: readonly string[]
  /** What is wrong with the text, if it cannot be read. */
  readonly problem?: string
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
