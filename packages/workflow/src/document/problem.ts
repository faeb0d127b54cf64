/** What can be wrong with what people gave us: a file, its contents, a setting. Imports the errors of the library. */
import { type ErrorCode, RepriseError } from 'reprise'

declare module 'reprise' {
  interface ErrorByCode {
    invalid_input: InputError
  }
}

/** How messages call what came from stdin. */
export const STDIN = '<stdin>'

/** The shape that `--json` prints as well. Lines and columns count from 1; without them the file as a whole is meant. */
export interface Problem {
  /** The file; `<stdin>` for a text that came without the name of one, absent for what is no text. */
  readonly file?: string
  /** The line, from 1. */
  readonly line?: number
  /** The column, from 1. */
  readonly column?: number
  /** Of a value within the file, in its own spelling: `steps[2].retry.backoff.base`. */
  readonly path?: string
  /** What is wrong, in a sentence. */
  readonly message: string
  /** What was probably meant; absent where nothing is similar. */
  readonly suggestion?: string
}

/** Carries every problem at once, and the text for showing the lines. Told to people, or as data with `--json`. */
export abstract class ReportedError extends RepriseError {
  /** Every problem, in the order of the file. */
  readonly problems: readonly Problem[]
  /** The text that they are in. */
  readonly text: string

  constructor(code: ErrorCode, problems: readonly Problem[], text = '') {
    super(code, problems.map(inOneLine).join('; '))
    this.problems = problems
    this.text = text
  }
}

/** For whoever prints the error alone: the command line prints `problems`, with their lines. */
function inOneLine({ file = STDIN, line, column = 1, path = '', message, suggestion }: Problem): string {
  const at = line === undefined ? '' : `${line}:${column}`
  const named = file === STDIN ? at && `line ${at}` : [file, at].filter((part) => part !== '').join(':')
  const sentence = suggestion === undefined ? message : `${message} (${suggestion})`
  return [named, path, sentence].filter((part) => part !== '').join(': ')
}

/** Something that was given to us is wrong: nothing was done. The command line ends with exit code 2. */
export class InputError extends ReportedError {
  declare readonly code: 'invalid_input'

  constructor(problems: readonly Problem[], text?: string) {
    super('invalid_input', problems, text)
  }

  override get name(): string {
    return 'InputError'
  }
}

/** What all of these read; if some cannot, the problems of all of them, in the order of the file. */
export function readTogether<T extends readonly unknown[]>(...readers: { readonly [K in keyof T]: () => T[K] }): T {
  const failures: InputError[] = []
  const results = readers.map((read) => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      failures.push(error)
      return undefined
    }
  })
  if (failures.length === 0) return results as unknown as T
  const problems = failures.flatMap((failure) => failure.problems)
  throw new InputError(problems.toSorted(byPlace), failures.find(({ text }) => text !== '')?.text)
}

/** In the order of the file. */
export function byPlace(a: Problem, b: Problem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}
