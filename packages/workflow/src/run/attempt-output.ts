/** The output of attempts, for whoever shows it while a run goes on. Imports nothing. */

export interface StepAttempt {
  /** The id of the step, or of its fallback. */
  readonly step: string
  readonly attempt: number
  /** Starts of this attempt: above 1, an earlier one was interrupted. */
  readonly execution: number
}

export interface OutputListener {
  /** As it goes into the log: masked. What it returns is waited for, so that a slow reader slows the command. */
  readonly onBytes?: (of: StepAttempt, stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
  /** The attempt's log is complete; null if nothing was written. It may come after the attempt is told to have failed. */
  readonly onEnd: (of: StepAttempt, log: string | null) => void
}
