/** The run that an argument names. Imports the workflow package and the errors of commands. */
import { findRun, LATEST, OperationError } from '@reprise/workflow/internal'
import type { Ledger, RunRecord } from 'reprise/durable'
import { RefusedError } from '../failures.js'

/**
 * For read-only commands: without a name, the run that was started last. `stepCommand`: the command takes a step after the
 * run, so the error for an unknown run suggests it for a step of the last run.
 */
export async function findRunOrLast(
  ledger: Ledger,
  named: string | undefined,
  stepCommand?: 'show' | 'logs',
): Promise<RunRecord> {
  try {
    return await findRun(ledger, named ?? LATEST, { orStep: stepCommand !== undefined })
  } catch (error) {
    if (stepCommand === undefined || !(error instanceof OperationError)) throw error
    const { problem, message } = error
    if (problem.code !== 'step_of_last_run') throw error
    const next = [[stepCommand, LATEST, problem.step], ['ps']]
    throw new RefusedError({ kind: 'not_found', message, next })
  }
}
