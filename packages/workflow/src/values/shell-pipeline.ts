/**
 * Where values go in a pipeline: `echo "${name}" | sh` executes what it prints. Imports the rules about words.
 *
 * Errs towards "goes through": a program that is not known hands on what it reads.
 */
import type { ShellFind } from './shell-find.js'
import { programOf, refuseStdin, runsStdin, type ShellWord } from './shell-words.js'

/** Print their arguments. */
const PRINTS = /^(?:echo|printf|print)$/
/** Print figures about what they read. */
const COUNTS = /^(?:wc|cksum|\w{1,12}sum|test|expr|\[|\[\[)$/
/** Formats of `printf` that quote the value for a shell, or take nothing but a number. */
const SAFE_FORMAT = /^(?:[^%]|%%|%[-+ #0-9]*[qdiuxXo])*$/
const FINDS: readonly ShellFind[] = []

export class Pipeline {
  /** Values that come out of the commands so far. */
  flow: readonly ShellFind[]
  private stages = 0
  /** Of commands that run what they read: the last one, and its place. */
  private runner: { readonly stage: number; readonly words: readonly ShellWord[] } | null = null

  /** `flow`: what its first command reads. */
  constructor(flow: readonly ShellFind[] = FINDS) {
    this.flow = flow
  }

  get stage(): number {
    return this.stages
  }

  /** A command has ended. `stdin`: what a redirection gives it instead. */
  end(words: readonly ShellWord[], stdin: readonly ShellFind[]): void {
    const read = stdin.length > 0 ? stdin : this.flow
    const program = programOf(words)
    if (runsStdin(words) !== undefined) {
      refuseStdin(words, read)
      this.runner = { stage: this.stages, words }
    }
    const printed = PRINTS.test(program) && !isSafe(program, words) ? words.flatMap(findsOf) : FINDS
    const passed = PRINTS.test(program) || COUNTS.test(program) ? FINDS : read
    this.flow = passed.length === 0 ? printed : [...passed, ...printed]
    this.stages++
  }

  /** What a group of commands has printed. */
  add(finds: readonly ShellFind[]): void {
    if (finds.length > 0) this.flow = [...this.flow, ...finds]
  }

  /** A here-document of an earlier command has been read. */
  addDocument(stage: number, finds: readonly ShellFind[]): void {
    if (this.runner !== null && this.runner.stage > stage) refuseStdin(this.runner.words, finds)
  }
}

function findsOf({ finds }: ShellWord): ShellFind[] {
  return finds.map(({ find }) => find)
}

function isSafe(program: string, words: readonly ShellWord[]): boolean {
  if (program !== 'printf') return false
  const at = words.findIndex(({ text }) => /(?:^|\/)printf$/.test(text))
  const format = words.slice(at + 1).find(({ text }) => text !== '--')
  return format !== undefined && format.finds.length === 0 && SAFE_FORMAT.test(format.text)
}
