/**
 * A run that this process conducts, from the first line to the exit code: who is told what, signals, the summary. Imports
 * the library, the workflow package, output and its own directory.
 */
import type { Plan, RunEnd, RunEvent } from '@reprise/workflow'
import { attemptsOf, expectKept, type RunSettings, stateDirectoryOf, stepsOf } from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import type { FailureRecord } from 'reprise/durable'
import { describeError } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode, type ProgramExitCode } from '../exit-codes.js'
import { neutralIo } from '../output/github-commands.js'
import { commandWords } from '../output/next-commands.js'
import { type OutputMode, outputModeOf } from '../output-mode.js'
import { reporterFor, type RunReporter } from '../output/run-reporter.js'
import { AttemptStdout } from './attempt-stdout.js'
import { definedOf } from './defined-variables.js'
import { JunitReport } from './junit-report.js'
import { RunEnding } from './run-ending.js'
import { withSignals } from './signals.js'
import { isWriteFailure, reportWriteFailure } from '../write-failure.js'

export type Conduct = (settings: RunSettings) => Promise<RunEnd>

/** Flags of every command that conducts a run. */
export type ShownOptions = {
  readonly output?: OutputMode
  readonly junit?: string
}

export interface ConductOptions {
  readonly shown?: ShownOptions
  /** What commands write is written here as well. */
  readonly isPassedOn?: boolean
  /** Whether `--json` prints the run when it has ended. @default true */
  readonly isDataTold?: boolean
  /** Of a run that has failed, from the failure of its last attempt; else 1. */
  readonly exitCode?: (failure: FailureRecord | null) => ProgramExitCode
}

export async function conductRun(
  context: CommandContext,
  runId: string,
  plan: Plan,
  conduct: Conduct,
  { isPassedOn = false, isDataTold = true, exitCode = () => EXIT.failed, shown = {} }: ConductOptions = {},
): Promise<ProgramExitCode> {
  const { settings, io } = context
  expectKept(settings.store)
  const output = isPassedOn ? 'none' : outputModeOf(shown.output, settings, io.env)
  const teller = reporterFor(io, settings, { live: !isPassedOn, output })
  const said = { settings, io: neutralIo(io) }
  const ending = new RunEnding(said, runId, plan)
  const report = shown.junit === undefined ? undefined : new JunitReport(shown.junit, context, runId, plan)
  const words = stopWords(said, runId, teller)
  const failure = new LastFailure()
  const passed = new AttemptStdout(io, settings.json, firstAttemptsOf(plan))
  report?.begin()
  return withSignals(async (stop) => {
    let end: RunEnd
    try {
      end = await conduct({
        store: settings.store,
        stateDirectory: stateDirectoryOf(settings.store),
        env: definedOf(io.env),
        listener: (event: RunEvent) => {
          if (event.type === 'run_started') words.begun()
          failure.hear(event)
          if (event.type === 'waiting') passed.retry(event.attempt - 1)
          teller.tell(event)
        },
        ...dataListener(teller),
        output: teller.output,
        signal: stop.signal,
        atEnd: async (ledger, ended) => {
          await ending.look(ledger, ended)
          await report?.look(ledger)
        },
        ...(isPassedOn && { onOutput: passed.output }),
      })
    } catch (error) {
      await passed.end()
      // What ended the run is told, and not that some output of its steps could not be shown either.
      await teller.end().catch(() => undefined)
      report?.fail(error)
      // The store is away: nobody has heard of the stop.
      if (stop.code() !== undefined && isRepriseError(error, 'ledger')) words.onUnrecorded()
      throw error
    }
    await passed.end()
    const outputCode = await teller.end().then(() => EXIT.done, words.onUnshown)
    // A signal that came when all was done has interrupted nothing.
    const code = end.state === 'interrupted' ? stop.code() : undefined
    if (code !== undefined) words.onRecorded()
    if (isDataTold || !settings.json) ending.tell(end)
    report?.write()
    const ended = code ?? (exitCodeOf(end) === EXIT.failed ? exitCode(failure.last) : exitCodeOf(end))
    return ended === EXIT.done ? outputCode : ended
  }, words)
}

/** For whoever reads the events of the run as data, which name every step. */
function dataListener({ record }: RunReporter): Pick<RunSettings, 'eventListener' | 'areStepsTold'> {
  return record === undefined ? { areStepsTold: false } : { eventListener: record, areStepsTold: true }
}

/** Output is passed on of a run with one step only. */
function firstAttemptsOf(plan: Plan): number {
  const [step] = stepsOf(plan)
  return step === undefined ? 1 : attemptsOf(step)
}

/** How the last attempt failed; what stopped a step whose last attempt did not end by itself. */
class LastFailure {
  last: FailureRecord | null = null

  hear(event: RunEvent): void {
    if (event.type === 'attempt_started') this.last = null
    if (event.type === 'attempt_failed') this.last = event.failure
    if (event.type === 'step_finished') this.last ??= event.failure
  }
}

/** What is said of a stop: that the state is saved only once it is. */
function stopWords({ settings, io }: CommandContext, runId: string, teller: RunReporter) {
  // Before a run is told of, no step of it has run.
  let isBegun = false
  const resume = `Resume with: ${commandWords(settings, io.env)(['resume', runId])}`
  const again = `a resume runs the interrupted attempt again. ${resume}`
  const write = (line: string): void => {
    // It may be stderr that is gone.
    if (io.stderr.writable !== false) io.stderr.write(`${line}\n`)
  }
  return {
    begun: () => {
      isBegun = true
    },
    onFirst: () =>
      teller.say('Stopping: the running attempt is ended and recorded. Press Ctrl-C again to stop at once.'),
    onLoss: () => write(`The output was closed: stopping. ${resume}`),
    onSecond: () => {
      void teller.end().catch(() => undefined)
      write(`Stopped at once${isBegun ? `; ${again}` : ', before any step was begun.'}`)
    },
    onRecorded: () => {
      if (!settings.quiet) write(isBegun ? 'Stopped: the state is saved.' : 'Stopped before any step was begun.')
    },
    /** Said beside what became of the run, which is told as ever; answers with the exit code of one that succeeded. */
    onUnshown: (error: unknown): ExitCode => {
      if (isWriteFailure(error)) return reportWriteFailure(error, io.stderr) ?? EXIT.done
      const logs = commandWords(settings, io.env)(['logs', runId])
      write(`Some output of the steps could not be shown (${describeError(error)}). To read the logs: ${logs}`)
      return EXIT.unwritable
    },
    onUnrecorded: () => {
      if (isBegun) write(`The stop could not be recorded; ${again}`)
    },
  }
}

export function exitCodeOf({ state, undecided, left = 0 }: Pick<RunEnd, 'state' | 'undecided' | 'left'>): ExitCode {
  if (undecided.length > 0) return EXIT.refused
  // Only a part of the items was asked for, and that part is done.
  if (state === 'interrupted' && left > 0) return EXIT.done
  if (state === 'succeeded') return EXIT.done
  return state === 'completed_with_failures' ? EXIT.completedWithFailures : EXIT.failed
}
