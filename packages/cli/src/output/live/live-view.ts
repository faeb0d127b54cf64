/**
 * A run as it goes on, on a terminal. Events are told as they come and are drawn at most ten times a second; between
 * events the clock moves countdowns.
 *
 * Invariants: the timer does not hold the process; after `end` nothing is drawn any more, and what stays are plain lines.
 * Imports the model, the frame and the screen.
 */
import type { RunEvent } from '@reprise/workflow'
import type { Output } from '../../process-io.js'
import type { Display } from '../display.js'
import { composeEnd, composeFrame, type Window } from './frame.js'
import { RunModel } from './run-model.js'
import { Screen } from './screen.js'

/** Time for drawing: the wall clock, as in events. */
export interface FrameClock {
  nowMs(): number
  /** Until what it returns is called. */
  every(ms: number, tick: () => void): () => void
}

export interface LiveView {
  tell(event: RunEvent): void
  /** A line that stays, above the picture. It is written as it is. */
  say(line: string): void
  /** Once is enough; more is no fault. */
  end(): void
}

export interface LiveOptions {
  readonly output: Output
  readonly display: Display
  readonly clock?: FrameClock
}

const FRAME_MS = 100
const USUAL: Window = { columns: 80, rows: 24 }

export function startLiveView({ output, display, clock = systemFrameClock }: LiveOptions): LiveView {
  const model = new RunModel()
  const screen = new Screen(output)
  const window = (): Window => ({ columns: output.columns || USUAL.columns, rows: output.rows || USUAL.rows })
  const draw = (): void => {
    if (model.startedAtMs !== null) screen.draw(composeFrame(model, clock.nowMs(), window(), display))
  }
  let stop: (() => void) | undefined = clock.every(FRAME_MS, draw)
  return {
    tell: (event) => model.tell(event),
    say: (line) => {
      screen.leave([line])
      if (stop !== undefined) draw()
    },
    end: () => {
      if (stop === undefined) return
      stop()
      stop = undefined
      screen.leave(model.startedAtMs === null ? [] : composeEnd(model, clock.nowMs(), window().columns, display))
    },
  }
}

export const systemFrameClock: FrameClock = {
  nowMs: () => Date.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
