/**
 * `reprise cancel RUN`: ends a run for good, whichever process conducts it. If none does, the steps of `finally` run here.
 * Imports the workflow package.
 */
import {
  cancelRun,
  expectSecrets,
  expectUsableGates,
  findRun,
  phasesIn,
  planToEnd,
  readPlan,
  type ResumeChoices,
  resumeRun,
  runEnvironment,
  StateDirectory,
  stateDirectoryOf,
  withLedger,
} from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { writeJson } from '../output/json.js'
import { conductRun } from '../runs/conduct.js'

const AS_IT_IS: ResumeChoices = { resetRetries: false, acceptChanges: false, done: [], rerun: [], force: false }

export async function run(
  { values }: ParsedArguments<{ readonly run: string }>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { io, settings } = context
  const before = await withLedger(settings.store, async (ledger) => {
    const found = await findRun(ledger, values.run)
    // The steps of `finally` may have to run here: what keeps them from it is told before anything is done.
    const plan = await planToEnd(ledger, found)
    if (phasesIn(plan, 'finally').length > 0) await expectUsableGates(ledger, plan, found.id)
    return found
  })
  const state = StateDirectory.at(stateDirectoryOf(settings.store))
  const { id } = before
  const { isNew, isFinallyLeft } = await cancelRun(settings.store, id, planToEnd, state)
  if (settings.json) writeJson(io.stdout, { run: id, cancelled: isNew, state: isNew ? 'cancelled' : before.status })
  else if (!settings.quiet)
    io.stderr.write(isNew ? `Run ${id} is cancelled.\n` : `Run ${id} had ended already: ${before.status}.\n`)
  return isFinallyLeft ? runFinally(id, context) : EXIT.done
}

/** The exit code is that of the cancel, unless a step of `finally` fails. */
async function runFinally(id: string, context: CommandContext): Promise<ProgramExitCode> {
  const { io, settings } = context
  const { record, plan } = await withLedger(settings.store, async (ledger) => {
    const found = await findRun(ledger, id)
    return { record: found, plan: await readPlan(ledger, found) }
  })
  expectSecrets(plan, runEnvironment(plan, record, io.env))
  const input = { choices: AS_IT_IS, check: { run: record, isChanged: false, differences: [] } }
  return conductRun(context, id, plan, (session) => resumeRun(plan, id, input, session), {
    isDataTold: false,
    exitCode: (failure) => (failure === null ? EXIT.done : EXIT.failed),
  })
}
