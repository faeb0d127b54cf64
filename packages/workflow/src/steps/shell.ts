/** `shell:` text, run by bash where there is one. Values come by the environment. Imports shell text. */
import type { Json } from 'reprise/durable'
import type { ShellAction } from '../plan/plan.js'
import { expectPassable } from '../values/passable.js'
import { isList, lookUp, type Reference, wordFor } from '../values/reference.js'
import { SetupError, TextError } from '../values/setup-error.js'
import { compileShell } from '../values/shell-text.js'
import { textOf } from '../values/template.js'
import { runStepCommand } from './command-step.js'
import { shellFor } from './program.js'
import type { StepContext, StepOutput, Values } from './step-context.js'
import type { StepTools } from './step-tools.js'

export async function runShell(action: ShellAction, context: StepContext, tools: StepTools): Promise<StepOutput> {
  const { values } = context
  const isKnown = (name: string): boolean => tools.isKnown(name) || Object.hasOwn(values, name)
  const program = compileShell(action.command, isKnown, (list) => wordsOf(values, list).length)
  if ('problem' in program) throw new TextError(program.problem, program.offset)
  const env = Object.fromEntries(
    program.variables.map(({ name, reference, element }) => {
      const value = element === undefined ? lookUp(values, reference) : (wordsOf(values, reference)[element] ?? null)
      return [name, expectPassable(textOf(value), `\`\${${reference.text}}\``)]
    }),
  )
  const shell = shellFor(context.env, context.cwd)
  const argv = [...shell, expectPassable(program.text, 'the text of `shell`')]
  return runStepCommand({ argv, what: shell[0]!, env }, context, tools)
}

/** The elements of a list, each of which is one word. */
function wordsOf(values: Values, list: Reference): readonly Json[] {
  const value = lookUp(values, list)
  if (!isList(value))
    throw new SetupError('unusable_value', `\`\${${list.text}}\`: this is ${wordFor(value)}, not a list`)
  const nested = value.findIndex((element) => typeof element === 'object' && element !== null)
  if (nested === -1) return value
  const what = wordFor(value[nested] ?? null)
  throw new SetupError('unusable_value', `\`\${${list.text}}\`: element ${nested} is ${what}, which is no word`)
}
