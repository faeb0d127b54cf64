/** The output of attempts, for a program that shows it while a run goes on. Imports nothing. */

export interface StepAttempt {
  /** The id of the step, or of its fallback. */
  readonly step: string
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Starts of this attempt: above 1, an earlier one was interrupted. */
  readonly execution: number
}

/** Gets the output of attempts while a run goes on. */
export interface OutputListener {
  /**
   * As it goes into the log: masked. What it returns is waited for, so that a slow reader slows the command.
   * @default none
   * @example { onBytes: ({ step }, stream, bytes) => void process[stream].write(bytes) }
   */
  readonly onBytes?: (of: StepAttempt, stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
  /**
   * The attempt's log is complete, or cannot be completed; null if nothing was written. It may come after the attempt is
   * told to have failed.
   */
  readonly onEnd: (of: StepAttempt, log: string | null) => void
  /**
   * Gets what `onBytes` or `onEnd` threw: output that cannot be shown is no failure of the attempt.
   * @default none: the error is dropped
   * @example { onFailure: (error) => console.error(error) }
   */
  readonly onFailure?: (error: unknown) => void
}

/** The output of one attempt, handed to a listener whose failures do not reach the attempt. */
export class ShownOutput {
  private readonly listener: OutputListener | undefined
  private readonly of: StepAttempt
  private isSilent = true

  constructor(listener: OutputListener | undefined, of: StepAttempt) {
    this.listener = listener
    this.of = of
  }

  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> {
    this.isSilent = false
    try {
      return this.listener?.onBytes?.(this.of, stream, bytes)?.catch(this.fail)
    } catch (error) {
      this.fail(error)
    }
  }

  end(log: string): void {
    try {
      this.listener?.onEnd(this.of, this.isSilent ? null : log)
    } catch (error) {
      this.fail(error)
    }
  }

  private readonly fail = (error: unknown): void => this.listener?.onFailure?.(error)
}
