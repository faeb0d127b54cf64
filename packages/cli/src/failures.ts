/**
 * What ends a command beside a fault in a file: wrong usage, a refusal, a store that fails. Light, since every start of
 * the program loads it. Imports nothing.
 */

/** Ends the command with exit code 2. */
export class UsageError extends Error {
  readonly suggestion: string | undefined

  constructor(message: string, suggestion?: string) {
    super(message)
    this.suggestion = suggestion
  }
}

const REFUSAL_KINDS = [
  'locked',
  'definition_changed',
  'exhausted',
  'inconsistent',
  'undecided',
  'newer_format',
  'not_found',
  'not_possible',
] as const
export type CommandRefusal = (typeof REFUSAL_KINDS)[number]

export interface RefusalWords {
  readonly kind: CommandRefusal
  readonly message: string
  /** Every difference, every fault: a line each. */
  readonly details?: readonly string[]
  /** Commands to type next, each as its words after the name of the program. */
  readonly next?: readonly (readonly string[])[]
}

/** Ends the command with exit code 4: what was asked for is not done, and nothing was touched. */
export class RefusedError extends Error {
  readonly kind: CommandRefusal
  readonly details: readonly string[]
  readonly next: readonly (readonly string[])[]

  constructor({ kind, message, details = [], next = [] }: RefusalWords) {
    super(message)
    this.kind = kind
    this.details = details
    this.next = next
  }
}

/** Ends the command with exit code 74: the store cannot be read or written. */
export class StoreError extends Error {
  readonly suggestion: string | undefined

  constructor(message: string, suggestion?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.suggestion = suggestion
  }
}
