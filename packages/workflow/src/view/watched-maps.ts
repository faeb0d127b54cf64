/**
 * The maps of a run that another process conducts, told in the words of one that is conducted here. Imports the shapes.
 *
 * Invariant: the progress of a map is told at most once a second.
 */
import type { RunEvent } from '../run/run-event.js'
import type { MapProgressView } from './map-views.js'
import type { MapView, RunDetail, StepView } from './views.js'

const TELL_EVERY_MS = 1000

interface Seen {
  readonly state: MapView['state']
  readonly toldAtMs: number
  readonly ended: number
}

export class WatchedMaps {
  private readonly seen = new Map<string, Seen>()

  /** What has happened to the maps since the last look. */
  changesOf({ id: run, steps }: Pick<RunDetail, 'id' | 'steps'>, nowMs: number): RunEvent[] {
    return steps.flatMap((step) => (step.map ? this.changesOfMap(run, step, step.map, nowMs) : []))
  }

  private changesOfMap(run: string, { id: step, failure }: StepView, view: MapView, timeMs: number): RunEvent[] {
    const before = this.seen.get(step)
    const base = { timeMs, run, step }
    const { state, counts, halted, resultsFile, recovered } = view
    const ended = counts.total - counts.pending - counts.running - counts.retrying
    if (state !== 'running') {
      this.seen.set(step, { state, toldAtMs: timeMs, ended })
      if (before?.state !== 'running') return []
      const end = { state, counts, recovered: recovered ?? 0, halted, failure, resultsFile }
      return [{ ...base, type: 'map_finished', ...end }]
    }
    const isNew = before?.state !== 'running'
    if (!isNew && timeMs - before.toldAtMs < TELL_EVERY_MS) return []
    this.seen.set(step, { state, toldAtMs: timeMs, ended })
    const perSecond = isNew ? view.perSecond : ((ended - before.ended) / (timeMs - before.toldAtMs)) * 1000
    const progress: RunEvent = { ...base, type: 'map_progress', ...progressOf(view, ended, perSecond) }
    return isNew ? [{ ...base, type: 'map_started', counts }, progress] : [progress]
  }
}

function progressOf(
  { counts, running, isPaused, agents }: MapView,
  ended: number,
  perSecond: number | null,
): MapProgressView {
  const left = counts.total - ended
  const etaMs = perSecond === null || perSecond <= 0 ? null : Math.round((left / perSecond) * 1000)
  return { counts, recovered: 0, perSecond, etaMs, running, heldBy: null, isPaused, agents }
}
