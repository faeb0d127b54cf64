/**
 * What performs the steps of a run in one process, and what they see: made alike by the process that conducts the run and
 * by agents. Imports processes, masking and its own layer.
 */
import { type DurationInput, parseDuration } from 'reprise'
import { maskCommandEnd } from '../masking/masked-output.js'
import type { Masker } from '../masking/masker.js'
import type { Plan } from '../plan/plan.js'
import type { Command } from '../process/command.js'
import { failureOfCommand } from '../process/command-error.js'
import { runCommand } from '../process/run-command.js'
import type { StateDirectory } from '../state/state-directory.js'
import type { ScriptPool } from '../steps/script-pool.js'
import { paramVariables } from './param-variables.js'
import { Performer, type PerformerParts } from './performer.js'
import type { RunNotes } from './run-record.js'
import { Scope } from './scope.js'

export interface PerformerInput
  extends Pick<PerformerParts, 'runId' | 'correlationId' | 'onLine' | 'onOutput' | 'output' | 'onStateFailure'> {
  readonly plan: Plan
  readonly notes: Pick<RunNotes, 'cwd' | 'documentDir' | 'params'>
  readonly env: Readonly<Record<string, string>>
  /** From asking a process to end to making it. @default '5s' @example { grace: '10s' } */
  readonly grace: DurationInput | undefined
  readonly state: StateDirectory
  readonly masker: Masker
  readonly scripts: ScriptPool
}

const GRACE = '5s'

export function performerFor(input: PerformerInput): { readonly scope: Scope; readonly performer: Performer } {
  const { plan, notes, env, grace = GRACE, state, masker, scripts, runId, correlationId } = input
  const { cwd, documentDir, params } = notes
  const scope = new Scope({ runId, workflow: plan.name, params, env })
  const where = { runId, correlationId, cwd, documentDir, graceMs: parseDuration(grace) }
  const tools = {
    // What is cut to fit a message is masked before: half a secret would not be found any more.
    runCommand: async (command: Command) => maskCommandEnd(masker, await runCommand(command)),
    failureOfCommand,
    scripts,
    isKnown: (name: string) => Object.hasOwn(scope.values, name),
  }
  const { onLine, onOutput, output, onStateFailure } = input
  const heard = { onLine, onOutput, output, onStateFailure }
  const variables = { ...env, ...paramVariables(params) }
  return { scope, performer: new Performer({ ...where, ...heard, env: variables, plan, scope, state, masker, tools }) }
}
