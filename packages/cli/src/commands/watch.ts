/** `reprise watch RUN`: a run live, whichever process conducts it. Imports the workflow package and output. */
import { LiveEvents, type RunExcerpt, runReader, RunWatcher, withLedger } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { MAX_LISTED, runSummary } from '../output/run-summary.js'
import { exitCodeOf } from '../runs/conduct.js'
import { systemFrameClock } from '../output/live/live-view.js'
import { reporterFor } from '../output/run-reporter.js'
import { UsageError } from '../failures.js'
import { findRunOrLast } from '../runs/run-argument.js'
import { untilSignal } from '../runs/until-signal.js'
import { neutralIo } from '../output/github-commands.js'

const LOOK_EVERY_MS = 250

export async function run(
  { values }: ParsedArguments<{ readonly run?: string }>,
  context: CommandContext,
): Promise<ExitCode> {
  if (context.settings.json)
    throw new UsageError(
      'watch goes on for as long as the run does',
      'use --ndjson for events as they come, or show --json',
    )
  return withLedger(context.settings.store, async (ledger) => {
    const { id } = await findRunOrLast(ledger, values.run)
    const { store, ndjson, verbose } = context.settings
    const told = { areStepsTold: ndjson, most: verbose ? Infinity : MAX_LISTED }
    const watcher = new RunWatcher(runReader(ledger, store), id, told)
    // What is told has the ledger's times.
    const aheadMs = (await ledger.now()) - Date.now()
    const clock = { ...systemFrameClock, nowMs: () => Date.now() + aheadMs }
    const reporter = reporterFor(context.io, context.settings, { clock })
    const live = reporter.record && new LiveEvents(ledger, id, reporter.record, { isFromStart: true })
    const stop = untilSignal()
    try {
      for (let looks = 1; !watcher.isOver && !stop.isStopped(); looks++) {
        const events = (await watcher.look()) ?? []
        // Of one that had ended before, people want to know the end.
        const isPast = watcher.isOver && looks === 1 && !context.settings.ndjson
        if (!isPast)
          for (const event of events) {
            reporter.tell(event)
            live?.hear(event)
          }
        await live?.flushed()
        if (!watcher.isOver) await stop.wait(LOOK_EVERY_MS)
      }
    } finally {
      stop.end()
      await reporter.end()
    }
    return watcher.isOver ? tellEnd(watcher.summary, context) : EXIT.done
  })
}

/** In the words, and with the exit code, of whoever conducted it. */
function tellEnd(detail: RunExcerpt | undefined, context: CommandContext): ExitCode {
  const { settings } = context
  const io = neutralIo(context.io)
  // Somebody has removed it, or goes on with it already.
  if (detail === undefined || detail.state === 'running') return EXIT.done
  const display = displayFor(io, settings, io.stderr)
  const lines = runSummary(detail, display, commandWords(settings, io.env))
  if (!settings.ndjson && lines.length > 0) io.stderr.write(`${lines.join('\n')}\n`)
  // It has not ended: whoever looked has seen all there is.
  if (detail.state === 'interrupted') return EXIT.done
  const undecided = detail.steps.filter(({ state }) => state === 'undecided').map((step) => step.id)
  return exitCodeOf({ state: detail.state, undecided })
}
