/**
 * What the time of a run goes into while it is told of, event by event: the same three figures that are read from its
 * record, without reading it. Imports the shapes.
 *
 * The times that it is given need one clock, which may be any. A process that records the figures gives monotonic times:
 * a system clock that is set during the run would be recorded with them.
 */
import { NO_TIME } from '../view/run-times.js'
import type { RunTimes } from '../view/views.js'
import type { RunEvent } from './run-event.js'

export class RunClock {
  /** When the run was taken up, and what was counted by then. */
  private startedAtMs = 0
  private before: RunTimes = NO_TIME
  private final: RunTimes | undefined = undefined
  private readonly running = new Set<string>()
  private readonly waiting = new Set<string>()
  private waitedMs = 0
  /** Since when steps only wait. */
  private idleSinceMs: number | undefined = undefined

  tell(event: RunEvent, timeMs: number = event.timeMs): void {
    switch (event.type) {
      case 'run_started':
        return this.begin(event, timeMs)
      case 'run_finished':
        this.final = event
        return
      case 'attempt_started':
        this.waiting.delete(event.step)
        this.running.add(event.step)
        return this.note(timeMs)
      case 'waiting':
      case 'parked':
        this.running.delete(event.step)
        this.waiting.add(event.step)
        return this.note(timeMs)
      case 'map_started':
        this.running.add(event.step)
        return this.note(timeMs)
      case 'map_finished':
      case 'step_finished':
      case 'step_skipped':
        this.running.delete(event.step)
        this.waiting.delete(event.step)
        return this.note(timeMs)
      default:
        return
    }
  }

  at(nowMs: number): RunTimes {
    if (this.final !== undefined) {
      const { activeMs, waitedMs, downMs } = this.final
      return { activeMs, waitedMs, downMs }
    }
    const idleMs = this.idleSinceMs === undefined ? 0 : Math.max(0, nowMs - this.idleSinceMs)
    const waitedMs = this.waitedMs + idleMs
    return {
      activeMs: this.before.activeMs + Math.max(0, nowMs - this.startedAtMs - waitedMs),
      waitedMs: this.before.waitedMs + waitedMs,
      downMs: this.before.downMs,
    }
  }

  /** No event follows for a step that was waiting before: what is left of its wait begins here. */
  private begin(start: Extract<RunEvent, { type: 'run_started' }>, timeMs: number): void {
    this.startedAtMs = timeMs
    this.before = start
    this.final = undefined
    this.running.clear()
    this.waiting.clear()
    this.waitedMs = 0
    this.idleSinceMs = undefined
    for (const { id, state } of start.steps) if (state === 'retrying' || state === 'parked') this.waiting.add(id)
    this.note(timeMs)
  }

  /** A watcher tells of what began before it looked: that was counted already. */
  private note(eventMs: number): void {
    const timeMs = Math.max(eventMs, this.startedAtMs)
    const isIdle = this.running.size === 0 && this.waiting.size > 0
    if (isIdle === (this.idleSinceMs !== undefined)) return
    if (this.idleSinceMs !== undefined) this.waitedMs += Math.max(0, timeMs - this.idleSinceMs)
    this.idleSinceMs = isIdle ? timeMs : undefined
  }
}
