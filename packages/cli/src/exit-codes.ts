/** What the process says with its exit code. Imports nothing. */

export const EXIT = {
  /** Everything succeeded; recovered by a retry counts as success. */
  done: 0,
  /** The run failed. */
  failed: 1,
  /** Usage, or an invalid file or setting: nothing was executed. */
  invalid: 2,
  /** The run came to its end, but some of it failed. */
  completedWithFailures: 3,
  /** What was asked for is not done, and nothing was touched. */
  refused: 4,
  /** Our own bug. */
  bug: 70,
  /** The store, a log or the output cannot be read or written: a full disk, a broken device, a link in its place. */
  unwritable: 74,
  /** By SIGINT; what was recorded is kept. */
  interrupted: 130,
  /** By SIGTERM or SIGHUP, or since nobody reads the output any more; what was recorded is kept. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One of ours, or for `exec` that of the command which it ran. */
export type ProgramExitCode = number

/** Of `exec`, where the command has none of its own; as shells have them. */
export const COMMAND_EXIT = {
  /** A limit of time ended it. */
  timedOut: 124,
  /** It is there, and cannot be run. */
  notExecutable: 126,
  /** There is no such program. */
  notFound: 127,
} as const

/** For help and the documentation. */
export const EXIT_MEANINGS: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'done; recovered by a retry counts as success'],
  ['1', 'the run failed; the last line and `stopReason` of --json say why'],
  ['2', 'wrong usage, or an invalid file or setting: nothing was executed'],
  ['3', 'the run completed, with failures'],
  ['4', 'refused, and nothing was touched: locked, changed, exhausted, inconsistent, undecided, newer format'],
  ['70', 'a bug in Reprise: please report it with the trace whose path is printed'],
  ['74', 'the store, a log or the output cannot be read or written, or something else is in its place'],
  [
    '130, 143',
    'interrupted by SIGINT, by SIGTERM or a closed terminal: what was recorded is kept, and the command to resume is printed',
  ],
  [
    'exec',
    "that of the command: its own code, 128 + n for signal n, 124 for a time limit, 126 and 127 if it cannot be run or found; reprise's own failures are 2, 4, 70 and 74, and say `reprise:` on stderr",
  ],
]
