/**
 * `claude:` a prompt for the Claude Code program in print mode, `claude -p PROMPT`. Imports templates.
 *
 * The prompt is an argument directly behind `-p`, before options that would take it for a value of theirs. What is too
 * long for one, or looks like an option, is handed over by stdin, which print mode reads.
 */
import type { ClaudeAction } from '../plan/plan.js'
import { expectPassable } from '../values/passable.js'
import { SetupError } from '../values/setup-error.js'
import { fillText } from '../values/template.js'
import { runStepCommand } from './command-step.js'
import { expectProgram } from './program.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'

const MAX_ARGUMENT_BYTES = 100_000

export async function runClaude(action: ClaudeAction, context: StepContext, tools: StepTools): Promise<StepOutput> {
  const { env, cwd, values } = context
  const program = action.program ?? (env['REPRISE_CLAUDE'] || 'claude')
  expectProgram(program, env, cwd, ': install Claude Code, or set REPRISE_CLAUDE to the program to run instead')
  const prompt = fillText(action.prompt, values)
  if (prompt.trim() === '') throw new SetupError('unusable_value', 'the prompt of `claude` is empty')
  const args = action.args.map((argument, index) =>
    expectPassable(fillText(argument, values), `argument ${index + 1} of \`claude\``),
  )
  const isArgument = !prompt.startsWith('-') && Buffer.byteLength(prompt) <= MAX_ARGUMENT_BYTES
  const given = isArgument ? [expectPassable(prompt, 'the prompt of `claude`')] : []
  const argv = [program, '-p', ...given, ...args]
  return runStepCommand({ argv, what: program, ...(!isArgument && { stdin: prompt }) }, context, tools)
}
