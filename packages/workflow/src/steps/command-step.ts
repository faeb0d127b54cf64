/** What steps that run a program have in common. Imports types, and the captured output's limit. */
import { captureExceeded } from '../values/capture.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'

export interface StepCommand {
  readonly argv: readonly string[]
  /** Of the program, where it was searched already. */
  readonly file?: string
  /** For people, if it cannot be started. */
  readonly what: string
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** Throws the failure of the command; if it was aborted and did not end well, why. */
export async function runStepCommand(
  { argv, file, what, env, stdin }: StepCommand,
  context: StepContext,
  tools: StepTools,
): Promise<StepOutput> {
  const { signal, captureBytes } = context
  signal.throwIfAborted()
  const end = await tools.runCommand({
    argv,
    env: env === undefined ? context.env : { ...context.env, ...env },
    cwd: context.cwd,
    tag: context.tag,
    groupFile: context.groupFile,
    signal,
    graceMs: context.graceMs,
    keepStdoutBytes: captureBytes,
    onOutput: context.log,
    ...(file !== undefined && { file }),
    ...(stdin !== undefined && { stdin }),
  })
  if (end.spawnError !== null || end.exitCode !== 0) {
    signal.throwIfAborted()
    throw tools.failureOfCommand(end, what)
  }
  if (end.stdoutExceeded && captureBytes > 0) throw captureExceeded(captureBytes)
  return { output: end.stdout, exitCode: 0 }
}
