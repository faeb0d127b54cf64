/** `reprise retry-now RUN STEP`: ends the wait of a step. Imports the workflow package. */
import { findRun, isConducted, readPlan, retryStepNow, withLedger } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { commandWords } from '../output/next-commands.js'

type Given = ParsedArguments<{ readonly run: string; readonly step: string }>

export async function run({ values: { run: named, step } }: Given, context: CommandContext): Promise<void> {
  const { io, settings } = context
  const { runId, hasProcess } = await withLedger(settings.store, async (ledger) => {
    const record = await findRun(ledger, named)
    return { runId: record.id, hasProcess: await isConducted(ledger, record) }
  })
  await retryStepNow(settings.store, runId, step, readPlan)
  if (settings.json) writeJson(io.stdout, { run: runId, step, startEarly: true })
  else if (!settings.quiet && hasProcess) io.stderr.write(`The next attempt of ${step} starts now.\n`)
  else if (!settings.quiet) {
    const resume = commandWords(settings, io.env)(['resume', runId])
    io.stderr.write(`No process is executing run ${runId}: the next attempt of ${step} starts when it is resumed.\n`)
    io.stderr.write(`next: ${resume}\n`)
  }
}
