/** What the reader of shell text remembers of a list of commands while it is in it. Imports the pipeline. */
import type { Delimiter } from './shell-extent.js'
import type { ShellFind } from './shell-find.js'
import { Pipeline } from './shell-pipeline.js'
import type { ShellWord } from './shell-words.js'

export interface HereDocument extends Delimiter {
  /** Of the command that reads it; complete by the time the document begins. */
  readonly words: readonly ShellWord[]
  readonly pipeline: Pipeline
  readonly stage: number
}

/** A group within a list: `{ … }`, a loop, an `if`. */
interface Group {
  /** The pipeline that the group is a part of. */
  readonly pipeline: Pipeline
  /** How much had been printed before it. */
  readonly printed: number
}

/** A list of commands: the whole text, or what is within parentheses. */
export class Commands {
  /** Of the simple command so far. */
  words: ShellWord[] = []
  word: ShellWord | null = null
  /** Innermost last: what comes next in a `case`. */
  readonly cases: ('subject' | 'pattern' | 'body')[] = []
  /** Elements of an array, or a pattern: words without keywords. */
  readonly isWords: boolean
  /** What the next word is to a redirection: a file, or the text of `<<<`. */
  target: 'file' | 'text' | null = null
  /** Values in the text of `<<<`. */
  stdin: ShellFind[] = []
  pipeline: Pipeline
  readonly groups: Group[] = []
  /** What the commands have printed, pipelines that have ended. */
  readonly printed: ShellFind[] = []
  /** What the list reads. */
  private readonly read: readonly ShellFind[]
  /** A group has just been closed: what it has printed goes on. */
  private closed: readonly ShellFind[] = []

  constructor(isWords: boolean, read: readonly ShellFind[] = []) {
    this.isWords = isWords
    this.read = read
    this.pipeline = new Pipeline(read)
  }

  /** The words of a simple command are complete. */
  endWords(): void {
    if (this.words.length > 0 || this.stdin.length > 0) this.pipeline.end(this.words, this.stdin)
    this.words = []
    this.stdin = []
    this.pipeline.add(this.closed)
    this.closed = []
  }

  /** `;`, a line's end and the like. */
  endPipeline(): void {
    this.printed.push(...this.pipeline.flow)
    this.pipeline = new Pipeline(this.groups.at(-1)?.pipeline.flow ?? this.read)
  }

  open(): void {
    this.groups.push({ pipeline: this.pipeline, printed: this.printed.length })
    this.pipeline = new Pipeline(this.pipeline.flow)
  }

  close(): void {
    const group = this.groups.pop()
    if (group === undefined) return
    this.endPipeline()
    this.pipeline = group.pipeline
    this.closed = this.printed.slice(group.printed)
  }

  /** A list in parentheses has ended. */
  take(printed: readonly ShellFind[]): void {
    this.closed = printed
  }
}

/** Within `[[ ]]`, where operators separate words and end nothing. */
export function isTest({ words }: Commands): boolean {
  return words[0]?.text === '[[' && words.at(-1)!.text !== ']]'
}
