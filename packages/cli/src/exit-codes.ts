/** What the process says with its exit code. Imports nothing. */

export const EXIT = {
  done: 0,
  /** Usage, or an invalid file or setting: nothing was executed. */
  invalid: 2,
  /** Our own bug. */
  bug: 70,
  /** The output cannot be written: a full disk, a broken device. */
  unwritable: 74,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
