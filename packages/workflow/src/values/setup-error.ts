/**
 * What no further attempt will cure: a value, a program or a module that is not there, a text that means nothing.
 * `retryable` says so to whoever decides about attempts. Imports nothing.
 */

export class SetupError extends Error {
  readonly code: string
  readonly retryable: false

  /** `code` is a word for programs: `missing_value`, `missing_program`, `not_executable` … */
  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.retryable = false
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
