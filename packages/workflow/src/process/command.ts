/** A program to be run and what became of it, as data. Imports nothing. */

/** What a program reads: a text; an open file, which its owner closes; or what is written while it runs. */
export type CommandInput = string | { readonly descriptor: number } | { readonly feed: InputFeed }

/**
 * Writes the input and ends it. Stops when the stream is closed: the program need not read all of it. If it rejects, the
 * program is ended rather than given the end of its input: half of an input is not the whole.
 */
type InputFeed = (into: InputStream) => Promise<void>

/** As much of a writable stream as a feed needs. */
export interface InputStream {
  readonly destroyed: boolean
  write(bytes: Uint8Array): boolean
  end(): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
}

export interface Command {
  /** The program and its arguments. */
  readonly argv: readonly string[]
  /** The program's file, where it is known: the system then does not try every directory of PATH. Absent: it is searched. */
  readonly file?: string
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** In the environment of everything it starts, so that what is left of it can be found: `REPRISE_TAG`. */
  readonly tag: string
  /** Told once: the whole tree is asked to end, and made to after the grace. */
  readonly signal: AbortSignal
  /** From TERM to KILL. */
  readonly graceMs: number
  /** At most so many bytes of stdout are kept in memory; one more and `stdoutExceeded` is true. 0: none. */
  readonly keepStdoutBytes: number
  /** Hears everything, as it comes; what it returns is waited for, so that a slow reader slows the program. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
  /** None: it is empty. */
  readonly stdin?: CommandInput
  /** Where it is noted which group of processes this is, as long as it runs; for `endLeftovers`. */
  readonly groupFile?: string
}

export interface CommandEnd {
  /** null if a signal ended it, or if it could not be started. */
  readonly exitCode: number | null
  /** Such as `SIGSEGV`. */
  readonly signal: string | null
  /** It could not be started: no such program, no permission, arguments too long. */
  readonly spawnError: Error | null
  readonly stdout: string
  readonly stdoutExceeded: boolean
  /** What it said last, for people and for matchers. */
  readonly stderrTail: string
  readonly stdoutTail: string
  readonly durationMs: number
}
