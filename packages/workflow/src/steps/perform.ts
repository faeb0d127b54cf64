/** Does what a step's action says, once. A failure is thrown. Imports the kinds of actions. */
import type { Action } from '../plan/plan.js'
import { runClaude } from './claude.js'
import { runHttp } from './http.js'
import { runProgram } from './run.js'
import { runScript } from './script.js'
import { runShell } from './shell.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'
import { writeStepFile } from './write-file.js'

export function performAction(action: Action, context: StepContext, tools: StepTools): Promise<StepOutput> {
  switch (action.kind) {
    case 'shell':
      return runShell(action, context, tools)
    case 'run':
      return runProgram(action, context, tools)
    case 'http':
      return runHttp(action, context)
    case 'script':
      return runScript(action, context, tools)
    case 'claude':
      return runClaude(action, context, tools)
    case 'write_file':
      return writeStepFile(action, context)
  }
}
