/** What the reader of shell text remembers of a list of commands while it is in it. Imports types only. */
import type { Delimiter } from './shell-extent.js'
import type { ShellWord } from './shell-words.js'

export interface HereDocument extends Delimiter {
  /** Of the command that reads it; complete by the time the document begins. */
  readonly words: readonly ShellWord[]
}

/** A list of commands: the whole text, or what is within parentheses. */
export interface Commands {
  /** Of the simple command so far. */
  words: ShellWord[]
  word: ShellWord | null
  /** Innermost last: what comes next in a `case`. */
  readonly cases: ('subject' | 'pattern' | 'body')[]
  /** Elements of an array, or a pattern: words without keywords. */
  readonly isWords: boolean
  /** What the next word is to a redirection: a file, or the text of `<<<`. */
  target: 'file' | 'text' | null
}

/** Within `[[ ]]`, where operators separate words and end nothing. */
export function isTest({ words }: Commands): boolean {
  return words[0]?.text === '[[' && words.at(-1)!.text !== ']]'
}
