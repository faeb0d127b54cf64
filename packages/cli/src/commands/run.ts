/** `reprise run FILE`: runs a workflow. Imports the workflow package and what conducts runs. */
import { newRunId, startRun } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { RefusedError } from '../failures.js'
import { conductRun, type ShownOptions } from '../runs/conduct.js'
import { expectNoSecrets, expectSecrets, loadPlan } from '../runs/load-plan.js'
import { writeNotes } from '../output/problems.js'
import { readId } from '../runs/read-id.js'
import { readParams } from '../runs/params.js'
import { showPlan } from '../runs/show-plan.js'
import { ifKept } from '../runs/store.js'

type Options = ShownOptions & {
  readonly param?: readonly string[]
  readonly runId?: string
  readonly dryRun?: boolean
}

export async function run(
  { values: { file }, options }: ParsedArguments<{ readonly file: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { plan, documentDir, notes, shownFile } = await loadPlan(file, context)
  const given = { '--param': [...(options.param ?? [])], '--run-id': options.runId ?? null }
  expectNoSecrets(plan, context.world.env, {
    ...given,
    'the path of the file': plan.file,
    'the directory of the file': documentDir,
  })
  const params = readParams(options.param ?? [], plan)
  if (options.dryRun === true) {
    writeNotes(shownFile, notes, context)
    showPlan(plan, params, context)
    return EXIT.done
  }
  expectSecrets(plan, context.world.env)
  writeNotes(shownFile, notes, context)
  const runId = options.runId ?? newRunId(plan.name, new Date())
  if (options.runId !== undefined) await expectNew(readId(options.runId, '--run-id'), context)
  const input = { runId, params, cwd: documentDir, documentDir }
  return conductRun(context, runId, plan, (settings) => startRun(plan, input, settings), { shown: options })
}

/** Said before anything is opened for writing, with what to type instead. */
async function expectNew(runId: string, context: CommandContext): Promise<void> {
  const known = await ifKept(context, (ledger) => ledger.run(runId))
  if (known === undefined) return
  throw new RefusedError({
    kind: 'not_possible',
    message: `There is a run ${runId} already.`,
    next: [
      ['show', runId],
      ['resume', runId],
    ],
  })
}
