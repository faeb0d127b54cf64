/**
 * A run that this process conducts, from the first line to the exit code: who is told what, signals, the summary. Imports
 * the library, the workflow package, output and its own directory.
 */
import type { Plan, RunEnd, RunEvent, RunSettings } from '@reprise/workflow'
import { isRepriseError } from 'reprise'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { commandWords } from '../output/next-commands.js'
import { reporterFor, type RunReporter } from '../output/run-reporter.js'
import { written } from './written.js'
import { definedOf } from './defined-variables.js'
import { RunEnding } from './run-ending.js'
import { withSignals } from './signals.js'
import { expectKept, stateDirectoryOf } from './store.js'

export type Conduct = (settings: RunSettings) => Promise<RunEnd>

export interface ConductOptions {
  /** What commands write is written here as well. */
  readonly isPassedOn?: boolean
}

export async function conductRun(
  context: CommandContext,
  runId: string,
  plan: Plan,
  conduct: Conduct,
  { isPassedOn = false }: ConductOptions = {},
): Promise<ExitCode> {
  const { settings, world } = context
  expectKept(settings.store)
  const teller = reporterFor(world, settings, { live: !isPassedOn })
  const ending = new RunEnding(context, runId, plan)
  const words = stopWords(context, runId, teller)
  return withSignals(async (stop) => {
    let end: RunEnd
    try {
      end = await conduct({
        store: settings.store,
        stateDirectory: stateDirectoryOf(settings.store),
        env: definedOf(world.env),
        listener: (event: RunEvent) => {
          if (event.type === 'run_started') words.begun()
          teller.tell(event)
        },
        signal: stop.signal,
        atEnd: (ledger, ended) => ending.look(ledger, ended),
        ...(isPassedOn && {
          onOutput: (stream, bytes) => written(settings.json ? world.stderr : world[stream], bytes),
        }),
      })
    } catch (error) {
      teller.end()
      // The store is away: nobody has heard of the stop.
      if (stop.code() !== undefined && isRepriseError(error, 'ledger')) words.onUnrecorded()
      throw error
    } finally {
      teller.end()
    }
    // A signal that came when all was done has interrupted nothing.
    const code = end.state === 'interrupted' ? stop.code() : undefined
    if (code !== undefined) words.onRecorded()
    ending.tell(end)
    return code ?? exitCodeOf(end)
  }, words)
}

/** What is said of a stop: that the state is saved only once it is. */
function stopWords({ settings, world }: CommandContext, runId: string, teller: RunReporter) {
  // Before a run is told of, no step of it has run.
  let isBegun = false
  const resume = `Resume with: ${commandWords(settings, world.env)(['resume', runId])}`
  const again = `a resume runs the interrupted attempt again. ${resume}`
  const write = (line: string): void => {
    // It may be stderr that is gone.
    if (world.stderr.writable !== false) world.stderr.write(`${line}\n`)
  }
  return {
    begun: () => {
      isBegun = true
    },
    onFirst: () =>
      teller.say('Stopping: the running attempt is ended and recorded. Press Ctrl-C again to stop at once.'),
    onLoss: () => write(`The output was closed: stopping. ${resume}`),
    onSecond: () => {
      teller.end()
      write(`Stopped at once${isBegun ? `; ${again}` : ', before any step was begun.'}`)
    },
    onRecorded: () => {
      if (!settings.quiet) write('Stopped: the state is saved.')
    },
    onUnrecorded: () => {
      if (isBegun) write(`The stop could not be recorded; ${again}`)
    },
  }
}

export function exitCodeOf({ state, undecided }: Pick<RunEnd, 'state' | 'undecided'>): ExitCode {
  if (undecided.length > 0) return EXIT.refused
  if (state === 'succeeded') return EXIT.done
  return state === 'completed_with_failures' ? EXIT.completedWithFailures : EXIT.failed
}
