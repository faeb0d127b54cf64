/** `reprise exec -- CMD…`: one command with a policy, kept in the store only if asked. Imports the workflow package. */
import { BLIND_READERS, execCommand, type Plan, planFromDocument } from '@reprise/workflow'
import type { Policy } from 'reprise'
import type { Json } from 'reprise/durable'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { type CommandPolicyTexts, readCommandPolicy } from '../input/command-policy.js'
import { definedOf } from '../runs/conduct.js'
import { execDurably } from '../runs/exec-durably.js'
import { ExecTelling } from '../runs/exec-telling.js'
import { readId } from '../runs/read-id.js'
import { withSignals } from '../runs/signals.js'

type Options = CommandPolicyTexts & { readonly durable?: string }

const GRACE_MS = 5000

export async function run(
  { values: { command }, options }: ParsedArguments<{ readonly command: readonly string[] }, Options>,
  context: CommandContext,
): Promise<ExitCode> {
  const policy = readCommandPolicy(options)
  if (options.durable !== undefined)
    return execDurably(readId(options.durable, '--durable'), planOf(command, policy), context)
  return execNow(command, policy.policy, context)
}

async function execNow(argv: readonly string[], policy: Policy, context: CommandContext): Promise<ExitCode> {
  const { world } = context
  const telling = new ExecTelling(argv[0] ?? '', context)
  const say = { onFirst: () => undefined, onSecond: () => undefined }
  return withSignals(async (stop) => {
    try {
      await execCommand({
        argv,
        policy,
        env: definedOf(world.env),
        cwd: process.cwd(),
        graceMs: GRACE_MS,
        signal: stop.signal,
        onOutput: (stream, bytes) => telling.output(stream, bytes),
        observer: telling,
      })
      telling.ended(undefined)
      return EXIT.done
    } catch (error) {
      const code = stop.code()
      if (code !== undefined) return code
      telling.ended(error)
      return EXIT.failed
    }
  }, say)
}

/** The same as a workflow of one step. */
function planOf(command: readonly string[], { document }: { readonly document: Json }): Plan {
  const step = { id: 'command', run: [...command].map(literal), retry: document }
  return planFromDocument({ name: 'exec', steps: [step] }, null, BLIND_READERS)
}

/** What is typed is meant as it is. */
function literal(argument: string): string {
  return argument.replaceAll('${', '$${')
}
