/** `reprise watch RUN`: a run live, whichever process conducts it. Imports the workflow package and output. */
import { RunWatcher } from '@reprise/workflow'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { systemFrameClock } from '../output/live/live-view.js'
import { reporterFor } from '../output/run-reporter.js'
import { UsageError } from '../failures.js'
import { findRun } from '../runs/find-run.js'
import { readerOf } from '../runs/reader.js'
import { withLedger } from '../runs/store.js'
import { untilSignal } from '../runs/until-signal.js'

const LOOK_EVERY_MS = 250

export async function run(
  { values }: ParsedArguments<{ readonly run: string }>,
  context: CommandContext,
): Promise<void> {
  if (context.settings.json)
    throw new UsageError(
      'watch goes on for as long as the run does',
      'use --ndjson for events as they come, or show --json',
    )
  await withLedger(context, async (ledger) => {
    await findRun(ledger, values.run)
    const watcher = new RunWatcher(readerOf(ledger, context), values.run)
    // What is told has the ledger's times.
    const aheadMs = (await ledger.now()) - Date.now()
    const clock = { ...systemFrameClock, nowMs: () => Date.now() + aheadMs }
    const reporter = reporterFor(context.world, context.settings, { clock })
    const stop = untilSignal()
    try {
      while (!watcher.isOver && !stop.isStopped()) {
        for (const event of (await watcher.look()) ?? []) reporter.tell(event)
        if (!watcher.isOver) await stop.wait(LOOK_EVERY_MS)
      }
    } finally {
      stop.end()
      reporter.end()
    }
  })
}
