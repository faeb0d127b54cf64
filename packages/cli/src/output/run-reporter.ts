/**
 * Shows a run while it is executed: a live view on a terminal, lines in pipes, JSON lines for programs, and the output of
 * its steps as `--output` asks. Imports all of these.
 */
import type { EventView, OutputListener, RunEvent } from '@reprise/workflow'
import type { Settings } from '../settings.js'
import type { ProcessIo } from '../process-io.js'
import { type AttemptPrinter, printersFor } from './attempt-printers.js'
import { isGitHub, neutralLines } from './github-commands.js'
import { writeJsonLine } from './json.js'
import { RunLines, storeLine } from './lines.js'
import { type FrameClock, startLiveView } from './live/live-view.js'
import { displayFor } from './display.js'
import { OrderedOutput } from './ordered-output.js'
import type { OutputMode } from '../output-mode.js'
import { StepNames } from './step-names.js'
import { isTerminal } from './style.js'

export interface RunReporter {
  tell(event: RunEvent): void
  /** Writes an event for programs; undefined unless `--ndjson` is given. */
  readonly record: ((event: EventView) => void) | undefined
  /** A line of talk, already plain, that stays; not with `--quiet`. */
  say(line: string): void
  /** Hears the output of attempts. */
  readonly output: OutputListener
  /**
   * Must be called, whatever becomes of the run; more than once is no fault. Resolves when all of it is written, and
   * rejects with the first error that kept something from being shown.
   */
  end(): Promise<void>
}

export interface ReporterOptions {
  /** False where something else writes to the terminal, such as a command whose output is passed on. */
  readonly live?: boolean
  /** What is shown of the output of steps; nothing unless said. */
  readonly output?: OutputMode
  readonly clock?: FrameClock
}

export function reporterFor(io: ProcessIo, settings: Settings, options: ReporterOptions = {}): RunReporter {
  const { stdout, stderr, env } = io
  const { quiet, verbose, ndjson } = settings
  const { output: mode = 'none', live: mayBeLive = true, clock } = options
  const display = displayFor(io, settings, stderr)
  // What goes on for pages leaves no place for a picture.
  const isQuiet = quiet || ndjson
  const isLive = mayBeLive && !isQuiet && !verbose && isTerminal(stderr, env) && (mode === 'failed' || mode === 'none')
  const live = isLive ? startLiveView({ output: stderr, display, ...(clock && { clock }) }) : undefined
  const names = new StepNames()
  const bound = new ProgressBound()
  const lines = live === undefined && !ndjson ? new RunLines(display, names) : undefined
  const ordered = new OrderedOutput(stderr)
  const write = (together: readonly string[]): void => {
    if (live !== undefined) for (const line of together) live.say(line)
    else if (together.length > 0) {
      const text = `${together.join('\n')}\n`
      ordered.text(isGitHub(env) ? neutralLines(text) : text)
    }
  }
  const { style } = display
  const printers = printersFor(mode, { output: ordered, names, style, isGitHub: isGitHub(env), isQuiet: quiet, write })
  return {
    tell: (event) => {
      names.hear(event)
      live?.tell(event)
      if (event.type === 'store_away' || event.type === 'store_back') live?.say(storeLine(event))
      write(lines?.linesOf(event) ?? [])
      for (const printer of printers) printer.tell(event)
    },
    record: ndjson ? (event) => (bound.isTold(event) ? writeJsonLine(stdout, event) : undefined) : undefined,
    say: (line) => (quiet ? undefined : write([line])),
    output: listenerOf(printers, ordered.fail),
    end: async () => {
      live?.end()
      await ordered.flushed()
    },
  }
}

/** How often the progress of a map is a line of JSON. */
const PROGRESS_EVERY_MS = 1000

/** Keeps the lines of a stream few, however many items there are. */
class ProgressBound {
  private readonly toldAtMs = new Map<string, number>()

  isTold({ type, step, timeMs }: EventView): boolean {
    if (type !== 'map_progress' || step === null) return true
    if (timeMs - (this.toldAtMs.get(step) ?? -Infinity) < PROGRESS_EVERY_MS) return false
    this.toldAtMs.set(step, timeMs)
    return true
  }
}

function listenerOf(printers: readonly AttemptPrinter[], onFailure: (error: unknown) => void): OutputListener {
  const onBytes = printers.find((printer) => printer.onBytes !== undefined)?.onBytes
  return {
    ...(onBytes !== undefined && { onBytes }),
    onEnd: (of, log) => {
      for (const printer of printers) printer.onEnd(of, log)
    },
    onFailure,
  }
}
