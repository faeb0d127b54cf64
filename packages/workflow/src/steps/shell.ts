/** `shell:` text, run by bash where there is one. Values come by the environment. Imports shell text. */
import type { ShellAction } from '../plan/plan.js'
import { expectPassable } from '../values/passable.js'
import { lookUp } from '../values/reference.js'
import { TextError } from '../values/setup-error.js'
import { compileShell } from '../values/shell-text.js'
import { textOf } from '../values/template.js'
import { runStepCommand } from './command-step.js'
import { shellFor } from './program.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'

export async function runShell(action: ShellAction, context: StepContext, tools: StepTools): Promise<StepOutput> {
  const { values } = context
  const program = compileShell(action.command, (name) => tools.isKnown(name) || Object.hasOwn(values, name))
  if ('problem' in program) throw new TextError(program.problem, program.offset)
  const env = Object.fromEntries(
    program.variables.map(({ name, reference }) => {
      return [name, expectPassable(textOf(lookUp(values, reference)), `\`\${${reference.text}}\``)]
    }),
  )
  const shell = shellFor(context.env, context.cwd)
  const argv = [...shell, expectPassable(program.text, 'the text of `shell`')]
  return runStepCommand({ argv, what: shell[0]!, env }, context, tools)
}
