/** What is told of one command while it is retried: its own output, and a line for every retry. Imports output. */
import { failureText, roundedDuration } from '@reprise/workflow/internal'
import type { Observer, RepriseEvent } from 'reprise'
import type { FailureRecord } from 'reprise/durable'
import { failureOf, plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import type { ProgramExitCode } from '../exit-codes.js'
import { writeJson } from '../output/json.js'
import { AttemptStdout } from './attempt-stdout.js'
import { commandExitCode } from './command-exit-code.js'

export class ExecReporter implements Observer {
  private readonly name: string
  private readonly context: CommandContext
  private readonly stdout: AttemptStdout
  private attempts = 0
  private waitedMs = 0
  private stopReason: string | null = null
  /** Of the last attempt, once that has failed. */
  private last: FailureRecord | null = null

  constructor(name: string, attemptsAllowed: number, context: CommandContext) {
    this.name = plainText(name)
    this.context = context
    // With `--json`, stdout is for the data.
    this.stdout = new AttemptStdout(context.io, context.settings.json, attemptsAllowed)
  }

  output(stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number): Promise<void> | void {
    return this.stdout.output(stream, bytes, attempt)
  }

  onEvent(event: RepriseEvent): void {
    if (event.type === 'attempt_started') {
      this.attempts = event.attempt
      this.last = null
    }
    if (event.type === 'attempt_finished' && event.error !== undefined) this.last = failureOf(event.error)
    if (event.type === 'call_failed') this.stopReason = event.stopReason
    if (event.type !== 'waiting') return
    this.stdout.retry(event.nextAttempt - 1)
    this.waitedMs += event.delayMs
    const cause = failureText(failureOf(event.error))
    const which = `attempt ${event.nextAttempt}/${event.attempts}`
    this.say(`Retrying ${this.name} (${which}) after ${roundedDuration(event.delayMs)}: ${cause}`)
  }

  /** Before anything is said of the end. */
  flush(): Promise<void> {
    return this.stdout.end()
  }

  ended(error: unknown): void {
    const { io, settings } = this.context
    const failure = error === undefined ? null : failureOf(error)
    if (settings.json) {
      const { attempts, waitedMs, stopReason } = this
      return writeJson(io.stdout, { succeeded: error === undefined, attempts, waitedMs, stopReason, failure })
    }
    if (failure === null) return
    const count = this.attempts === 1 ? '1 attempt' : `${this.attempts} attempts`
    io.stderr.write(`FAILED ${this.name} after ${count} (${this.stopReason ?? 'failed'}): ${failureText(failure)}\n`)
  }

  /** What `error` ended, as a shell would tell it. */
  exitCode(error: unknown): ProgramExitCode {
    return commandExitCode(this.last ?? failureOf(error))
  }

  private say(line: string): void {
    const { io, settings } = this.context
    if (!settings.quiet) io.stderr.write(`${line}\n`)
  }
}
