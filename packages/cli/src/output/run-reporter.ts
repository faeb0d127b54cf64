/**
 * Who tells of a run while it goes on: a live view on a terminal, lines elsewhere, lines of JSON for programs.
 * Imports all three.
 */
import type { RunEvent } from '@reprise/workflow'
import type { Settings } from '../settings.js'
import type { World } from '../world.js'
import { writeJsonLine } from './json.js'
import { RunLines } from './lines.js'
import { type FrameClock, startLiveView } from './live/live-view.js'
import { lookFor } from './look.js'
import { isTerminal } from './style.js'

export interface RunReporter {
  tell(event: RunEvent): void
  /** A line of talk, already plain, that stays; not with `--quiet`. */
  say(line: string): void
  /** Must be called, whatever becomes of the run; more than once is no fault. */
  end(): void
}

export interface ReporterOptions {
  /** False where something else writes to the terminal, such as a command whose output is passed on. */
  readonly live?: boolean
  readonly clock?: FrameClock
}

export function reporterFor(world: World, settings: Settings, options: ReporterOptions = {}): RunReporter {
  const { stdout, stderr, env } = world
  const say = settings.quiet ? () => undefined : (line: string) => void stderr.write(`${line}\n`)
  if (settings.ndjson) return { tell: (event) => writeJsonLine(stdout, event), say, end: () => undefined }
  const look = lookFor(world, settings, stderr)
  const isLive = options.live !== false && !settings.quiet && !settings.verbose && isTerminal(stderr, env)
  if (isLive) return startLiveView({ output: stderr, look, ...(options.clock && { clock: options.clock }) })
  const lines = new RunLines(look)
  const tell = (event: RunEvent): void => {
    for (const line of lines.linesOf(event)) stderr.write(`${line}\n`)
  }
  return { tell, say, end: () => undefined }
}
