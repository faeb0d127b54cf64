/**
 * One command with a policy, in the process: nothing is kept, and nothing of it is left when it has ended. Imports the
 * library and the process runner.
 */
import { randomUUID } from 'node:crypto'
import { createExecutor, type DurationInput, type Observer, parseDuration, type Policy } from 'reprise'
import type { CommandEnd } from '../process/command.js'
import { failureOfCommand } from '../process/command-error.js'
import { runCommand } from '../process/run-command.js'
import type { AttemptInput } from '../process/stdin-spool.js'

export interface ExecInput {
  readonly argv: readonly string[]
  readonly policy: Policy
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** From asking the command to end to making it. */
  readonly grace: DurationInput
  readonly signal: AbortSignal
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number) => void | Promise<void>
  readonly observer: Observer
  /** What each attempt reads; absent: nothing. */
  readonly openStdin?: () => Promise<AttemptInput>
}

/** Rejects with the last attempt's error, or with what stopped the retries. */
export async function execCommand(input: ExecInput): Promise<void> {
  const { argv, policy, env, cwd, grace, signal, onOutput, observer, openStdin } = input
  const executor = createExecutor({ observers: [observer] })
  const id = randomUUID()
  let ending: Promise<unknown> = Promise.resolve()
  const start = async (attempt: number, aborted: AbortSignal): Promise<void> => {
    // The driver does not wait for an attempt whose time is over; the next one does.
    await ending
    const stdin = await openStdin?.()
    const command = runCommand({
      argv,
      env: { ...env, REPRISE_ATTEMPT: String(attempt), REPRISE_IDEMPOTENCY_KEY: id, REPRISE_TASK_ID: id },
      cwd,
      tag: id,
      signal: aborted,
      graceMs: parseDuration(grace),
      keepStdoutBytes: 0,
      onOutput: (stream, bytes) => onOutput(stream, bytes, attempt),
      ...(stdin !== undefined && { stdin: stdin.input }),
    }).finally(() => stdin?.close())
    // What it rejects with is the attempt's to tell.
    ending = command.catch(() => undefined)
    const end: CommandEnd = await command
    if (end.exitCode !== 0) throw failureOfCommand(end, argv[0] ?? '')
  }
  try {
    await executor.run(argv[0] ?? 'command', ({ attempt, signal: aborted }) => start(attempt, aborted), {
      policy,
      signal,
    })
  } finally {
    await ending
  }
}
