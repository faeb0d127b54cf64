/** What is said when a run has ended here: the summary for people, the run as data for programs. */
import { type RunDetail, type RunEnd, viewRun } from '@reprise/workflow'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { commandWords } from '../output/next-commands.js'
import { runSummary } from '../output/run-summary.js'
import { readerOf } from './reader.js'
import { withLedger } from './store.js'

export async function showEnd(context: CommandContext, runId: string, end: RunEnd): Promise<void> {
  const { world, settings } = context
  if (settings.ndjson) return
  const detail = await withLedger(context, (ledger) => viewRun(readerOf(ledger, context), runId))
  if (detail === undefined) throw new Error(`run ${runId} is not there any more`)
  if (settings.json) writeJson(world.stdout, jsonOf(detail, end))
  else if (!settings.quiet || end.state !== 'succeeded') {
    const look = lookFor(world, settings, world.stderr)
    const lines = runSummary(detail, Date.now(), look, commandWords(settings, world.env))
    world.stderr.write(`${lines.join('\n')}\n`)
  }
}

function jsonOf(detail: RunDetail, { undecided }: RunEnd): unknown {
  return { ...detail, undecided }
}
