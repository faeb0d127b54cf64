/**
 * How far a map is, for people who watch: counts from the ledger, and the items that run in this process from its events.
 * Imports the library, the plan and the run's events.
 *
 * Invariants: what it keeps is bounded by the items that run here. Not more than a few events a second are told, however
 * many items there are.
 */
import type { Observer, RepriseEvent } from 'reprise'
import type { Ledger, TaskRecord } from 'reprise/durable'
import { failureOf } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import { Agents } from '../../view/map-agents.js'
import type { MapCounts, MapProgressView, RunningItemView } from '../../view/map-views.js'
import type { RunEvent } from '../run-event.js'
import { classesOfRunning, countsOf, readClasses, runningItems } from './map-counts.js'
import { itemQueues } from './map-names.js'
import { isPausedByHand } from './map-halt.js'

/** How often the progress is told. */
const TELL_EVERY_MS = 500
/** The rate is that of this time. */
const RATE_OVER_MS = 30_000
/** Running items that are told of. */
const MOST_RUNNING = 20
/** Failed items that are told of in a second: the others are counted. */
const MOST_FAILURES_A_SECOND = 20

interface RunningItem extends RunningItemView {
  readonly isRetry: boolean
}

export interface ProgressParts {
  readonly ledger: Ledger
  readonly run: string
  readonly mapRun: string
  readonly map: MapPlan
  readonly tell: (event: RunEvent) => void
  readonly now: () => number
  /** An item has ended here, or waits. */
  readonly onItemRested: (isFailed: boolean) => void
}

export class MapProgress implements Observer {
  private readonly parts: ProgressParts
  private readonly running = new Map<string, RunningItem>()
  /** Keys of items that are being executed here, until their end is told. */
  private readonly keys = new Map<string, string>()
  private readonly samples: { readonly atMs: number; readonly ended: number }[] = []
  private recovered = 0
  private heldBy: MapProgressView['heldBy'] = null
  private failuresTold = { sinceMs: 0, count: 0 }
  private timer: NodeJS.Timeout | undefined = undefined
  private isTelling = false
  private isEnded = false

  constructor(parts: ProgressParts) {
    this.parts = parts
  }

  begin(): void {
    this.timer = setInterval(() => void this.tell(), TELL_EVERY_MS)
    this.timer.unref()
  }

  end(): void {
    this.isEnded = true
    clearInterval(this.timer)
  }

  /** Called by the attempt itself, which alone knows the key. */
  began(item: string, key: string): void {
    this.keys.set(item, key)
    const known = this.running.get(item)
    if (known !== undefined) this.running.set(item, { ...known, key })
  }

  async counts(): Promise<MapCounts> {
    const { ledger, mapRun, map } = this.parts
    const [classes, others] = [await readClasses(ledger, mapRun), classesOfRunning(await this.runningElsewhere())]
    const retrying = [...this.running.values()].filter(({ isRetry }) => isRetry).length
    const running = { fresh: others.fresh + this.running.size - retrying, retrying: others.retrying + retrying }
    return countsOf(classes, running, map.errors)
  }

  /** Items that agents run. */
  private async runningElsewhere(): Promise<TaskRecord[]> {
    const { ledger, mapRun } = this.parts
    const running = await runningItems(ledger, itemQueues(mapRun), { withInput: false })
    return running.filter(({ id }) => !this.running.has(id))
  }

  onEvent(event: RepriseEvent): void {
    const { mapRun, onItemRested } = this.parts
    if (event.scopeKind !== 'run') return
    // What is done for a failed item is no item.
    if (event.scope?.startsWith(`${mapRun}/`) === true && event.type.startsWith('call_')) return onItemRested(false)
    if (event.scope !== mapRun) return
    const item = event.taskId ?? ''
    switch (event.type) {
      case 'attempt_started':
        this.running.set(item, {
          item,
          key: this.keys.get(item) ?? item,
          attempt: event.attempt,
          startedAtMs: event.timeMs,
          isRetry: event.attempt > 1,
        })
        return
      case 'attempt_finished':
      case 'interrupted':
        this.running.delete(item)
        return
      case 'waiting':
        this.keys.delete(item)
        return onItemRested(false)
      case 'call_succeeded':
        if (event.attemptsMade > 1) this.recovered++
        this.keys.delete(item)
        return onItemRested(false)
      case 'call_failed':
        this.tellFailure(event, item)
        this.keys.delete(item)
        return onItemRested(true)
      case 'queue_held':
        this.heldBy = { gate: event.gate, reason: event.reason }
        return
      case 'queue_released':
        this.heldBy = null
        return
      default:
    }
  }

  /** Tells how far the map is. A ledger that fails is told to whoever writes next. */
  async tell(): Promise<void> {
    if (this.isTelling) return
    this.isTelling = true
    try {
      const { run, map, tell, now } = this.parts
      const counts = await this.counts()
      const isPaused = await isPausedByHand(this.parts.ledger, this.parts.mapRun)
      const agents = (await Agents.read(this.parts.ledger)).of(this.parts.mapRun)
      // The end has been told meanwhile.
      if (this.isEnded) return
      tell({ type: 'map_progress', timeMs: now(), run, step: map.id, ...this.view(counts, now()), isPaused, agents })
    } catch {
      // See above.
    } finally {
      this.isTelling = false
    }
  }

  private view(counts: MapCounts, nowMs: number): Omit<MapProgressView, 'isPaused' | 'agents'> {
    const left = counts.pending + counts.running + counts.retrying
    const ended = counts.total - left
    const perSecond = this.rate(ended, nowMs)
    const running = [...this.running.values()].slice(0, MOST_RUNNING)
    return {
      counts,
      recovered: this.recovered,
      perSecond,
      etaMs: perSecond === null || perSecond === 0 ? null : Math.round((left / perSecond) * 1000),
      running: running.map(({ isRetry: _isRetry, ...item }) => item),
      heldBy: this.heldBy,
    }
  }

  private rate(ended: number, nowMs: number): number | null {
    this.samples.push({ atMs: nowMs, ended })
    while (this.samples.length > 2 && nowMs - (this.samples[1]?.atMs ?? nowMs) > RATE_OVER_MS) this.samples.shift()
    const [first] = this.samples
    if (first === undefined || nowMs - first.atMs < TELL_EVERY_MS) return null
    return Math.max(0, ((ended - first.ended) / (nowMs - first.atMs)) * 1000)
  }

  private tellFailure(event: Extract<RepriseEvent, { type: 'call_failed' }>, item: string): void {
    const { run, map, tell } = this.parts
    if (event.timeMs - this.failuresTold.sinceMs >= 1000) this.failuresTold = { sinceMs: event.timeMs, count: 0 }
    if (++this.failuresTold.count > MOST_FAILURES_A_SECOND) return
    const { timeMs, attemptsMade, stopReason, error } = event
    const failure = error === undefined ? null : failureOf(error)
    const what = { item, key: this.keys.get(item) ?? item, attemptsMade, stopReason, failure }
    tell({ type: 'item_failed', timeMs, run, step: map.id, ...what })
  }
}
