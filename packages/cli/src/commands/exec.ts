/** `reprise exec -- CMD…`: one command with a policy, kept in the store only if asked. Imports the workflow package. */
import { execCommand, StdinError } from '@reprise/workflow/internal'
import type { Policy } from 'reprise'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { StoreError } from '../failures.js'
import type { PolicyFlagTexts } from '../flag-table.js'
import { readCommandPolicy } from '../input/policy-fields.js'
import { definedOf } from '../runs/defined-variables.js'
import { stdinOfExec } from '../runs/exec-stdin.js'
import { ExecReporter } from '../runs/exec-reporter.js'
import { withSignals } from '../runs/signals.js'

type Options = PolicyFlagTexts & { readonly durable?: string }

const GRACE = '5s'

export async function run(
  { values: { command }, options }: ParsedArguments<{ readonly command: readonly string[] }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { policy, document } = readCommandPolicy(options)
  if (options.durable === undefined) return execNow(command, policy, context)
  // Most are not kept, and need no ledger.
  const { execDurably } = await import('../runs/exec-durably.js')
  return execDurably(options.durable, { command, retry: document }, context)
}

async function execNow(argv: readonly string[], policy: Policy, context: CommandContext): Promise<ProgramExitCode> {
  const { io } = context
  const reporter = new ExecReporter(argv[0] ?? '', policy.attempts, context)
  const say = { onFirst: () => undefined, onSecond: () => undefined }
  const stdin = await stdinOfExec(io, policy.attempts > 1)
  return withSignals(async (stop) => {
    try {
      await execCommand({
        argv,
        policy,
        env: definedOf(io.env),
        cwd: process.cwd(),
        grace: GRACE,
        signal: stop.signal,
        onOutput: (stream, bytes, attempt) => reporter.output(stream, bytes, attempt),
        observer: reporter,
        ...(stdin !== undefined && { openStdin: stdin.open }),
      })
      await reporter.flush()
      reporter.ended(undefined)
      return EXIT.done
    } catch (error) {
      await reporter.flush()
      const code = stop.code()
      if (code !== undefined) return code
      if (error instanceof StdinError) throw new StoreError(error.message, error.suggestion, error)
      reporter.ended(error)
      return reporter.exitCode(error)
    } finally {
      await stdin?.close()
    }
  }, say)
}
