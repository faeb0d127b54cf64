/**
 * What no further attempt will cure: a value, a program or a module that is not there, a text that means nothing.
 * `retryable` says so to whoever decides about attempts; of a program
 * that is not there, `retry_on` decides. Imports nothing.
 */

/** What somebody may be about to put there: retried if `retry_on` lists it. With the exit code of a shell. */
const RETRYABLE_IF_LISTED: ReadonlyMap<string, number> = new Map([
  ['missing_program', 127],
  ['not_executable', 126],
])

export class SetupError extends Error {
  readonly code: string
  /** As a shell has it, of a program that is not there or may not be executed. */
  declare readonly exitCode?: number
  readonly retryable: false | 'if_listed'

  /** `code` is a word for programs: `missing_value`, `missing_program`, `not_executable` … */
  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.retryable = RETRYABLE_IF_LISTED.has(code) ? 'if_listed' : false
    const exitCode = RETRYABLE_IF_LISTED.get(code)
    if (exitCode !== undefined) this.exitCode = exitCode
  }

  override get name(): string {
    return 'SetupError'
  }
}

/** A text of the document that cannot be read; `offset` counts UTF-16 units from 0. */
export class TextError extends SetupError {
  readonly offset: number
  readonly suggestion: string | undefined

  constructor(message: string, offset: number, suggestion?: string) {
    super('invalid_text', message)
    this.offset = offset
    this.suggestion = suggestion
  }

  override get name(): string {
    return 'TextError'
  }
}
