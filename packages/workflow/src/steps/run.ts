/** `run:` a program with its arguments, without a shell. Imports templates. */
import type { RunAction } from '../plan/plan.js'
import { expectPassable } from '../values/passable.js'
import { fillText } from '../values/template.js'
import { runStepCommand } from './command-step.js'
import { expectProgram } from './program.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'

export async function runProgram(action: RunAction, context: StepContext, tools: StepTools): Promise<StepOutput> {
  const argv = action.argv.map((argument, index) => {
    const what = index === 0 ? 'the program of `run`' : `argument ${index} of \`run\``
    return expectPassable(fillText(argument, context.values), what)
  })
  const what = argv[0] ?? ''
  const file = expectProgram(what, context.env, context.cwd)
  return runStepCommand({ argv, file, what }, context, tools)
}
