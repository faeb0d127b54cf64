/**
 * What a live view knows of a run: the steps that run, retry or are parked, the last few that have ended, and counts.
 *
 * Invariants: an event takes the same time however many steps there are; what has ended is counted and soon forgotten,
 * so that memory is that of the steps in hand and of the list the run began with. Imports the clock of a run, words and types.
 */
import type { RunEvent, RunState, StepState } from '@reprise/workflow'
import { isFallbackId, type MapProgressView, RunClock, skipText } from '@reprise/workflow/internal'
import type { StopReason } from 'reprise'
import type { FailureRecord } from 'reprise/durable'
import { countsText } from '../map-lines.js'

export const ACTIVE_STATES = ['running', 'retrying', 'parked'] as const satisfies readonly StepState[]
export type ActiveState = (typeof ACTIVE_STATES)[number]

/** A step in hand. */
export interface ActiveStep {
  readonly step: string
  readonly attempt: number
  readonly attempts: number
  /** When it came to this state. */
  readonly sinceMs: number
  readonly nextAttemptAtMs: number | null
  readonly waitedMs: number
  readonly retryBudgetMs: number | null
  /** Whose line it stands in. */
  readonly budget: string | null
  /** How the attempt before failed. */
  readonly failure: FailureRecord | null
  /** What it said last. */
  readonly output: string | null
}

/** A map that runs. */
export interface ActiveMap extends MapProgressView {
  readonly sinceMs: number
}

export interface EndedStep {
  readonly step: string
  readonly state: StepState
  readonly attempt: number
  readonly attempts: number
  readonly durationMs: number | null
  readonly waitedMs: number
  readonly stopReason: StopReason | null
  readonly failure: FailureRecord | null
  /** Why it was skipped. */
  readonly note: string | null
}

type StepEvent = Extract<RunEvent, { readonly attempts: number }>
type Finished = Extract<RunEvent, { readonly type: 'step_finished' }>

/** Of the steps that have ended, so many are known by name. */
export const MAX_ENDED = 20
const NO_PROGRESS = {
  recovered: 0,
  perSecond: null,
  etaMs: null,
  running: [],
  heldBy: null,
  isPaused: false,
  agents: [],
} as const
const ENDED: ReadonlySet<StepState> = new Set(['succeeded', 'recovered', 'skipped', 'failed', 'cancelled', 'undecided'])

export class RunModel {
  run = ''
  name = ''
  resumes = 0
  startedAtMs: number | null = null
  /** What its time goes into, with that of earlier processes. */
  readonly clock = new RunClock()
  /** Null while it goes on. */
  state: RunState | null = null
  /** In the order in which steps came to the state. */
  readonly active: Readonly<Record<ActiveState, Map<string, ActiveStep>>> = {
    running: new Map(),
    retrying: new Map(),
    parked: new Map(),
  }
  /** Maps that run, by id. */
  readonly maps = new Map<string, ActiveMap>()
  /** Of all that have ended, those before a resume included. */
  counts: Partial<Record<StepState, number>> = {}
  /** Ended since this began to look. */
  endedHere = 0
  /** The last ones, newest last. */
  readonly ended: EndedStep[] = []
  private names = new Map<string, string>()
  private listed = 0
  private endedSteps = 0

  /** Steps of the run, as far as they are known. A fallback is part of its step, and not counted. */
  get total(): number {
    return Math.max(this.listed, this.endedSteps + this.activeCount - this.activeFallbacks)
  }

  /** A step whose fallback is active is not done yet. */
  get done(): number {
    return Math.max(0, this.endedSteps - this.activeFallbacks)
  }

  private get activeFallbacks(): number {
    return ACTIVE_STATES.reduce((sum, state) => sum + [...this.active[state].keys()].filter(isFallbackId).length, 0)
  }

  get activeCount(): number {
    return ACTIVE_STATES.reduce((sum, state) => sum + this.active[state].size, 0)
  }

  /** Lines that the maps need: the bar, the states, the agents, and the items that run. */
  get mapLines(): number {
    const linesOf = ({ running, agents }: ActiveMap): number => 2 + Math.min(1, agents.length) + running.length
    return [...this.maps.values()].reduce((sum, map) => sum + linesOf(map), 0)
  }

  nameOf(step: string): string {
    return this.names.get(step) ?? step
  }

  tell(event: RunEvent): void {
    this.clock.tell(event)
    switch (event.type) {
      case 'run_started':
        return this.begin(event)
      case 'run_finished':
        this.state = event.state
        return
      case 'attempt_started':
        // What the attempt before has said is not what this one says.
        return this.move(event, 'running', { output: null })
      case 'attempt_failed':
        return this.amend(event.step, { failure: event.failure })
      case 'waiting': {
        const { nextAttemptAtMs, waitedMs, retryBudgetMs, failure } = event
        return this.move(event, 'retrying', { nextAttemptAtMs, waitedMs, retryBudgetMs, ...(failure && { failure }) })
      }
      case 'parked':
        return this.move(event, 'parked', { budget: event.budget })
      case 'fallback_started':
        this.names.set(event.fallback.id, event.fallback.name)
        return
      case 'output':
        return this.amend(event.step, { output: event.line })
      case 'step_finished':
        return this.finish(event)
      case 'step_skipped':
        return this.end({ ...UNKNOWN_END, ...stepOf(event), state: 'skipped', note: skipText(event.reason) })
      case 'map_started':
        this.maps.set(event.step, { ...NO_PROGRESS, counts: event.counts, sinceMs: event.timeMs })
        return
      case 'map_progress': {
        const { counts, recovered, perSecond, etaMs, running, heldBy, isPaused, agents } = event
        const sinceMs = this.maps.get(event.step)?.sinceMs
        // What was on its way when the map ended.
        if (sinceMs === undefined) return
        this.maps.set(event.step, { counts, recovered, perSecond, etaMs, running, heldBy, isPaused, agents, sinceMs })
        return
      }
      case 'map_finished':
        return this.endMap(event)
      case 'map_note':
      case 'item_failed':
      case 'breaker_changed':
      case 'budget_denied':
      case 'group_waiting':
      case 'store_away':
      case 'store_back':
        return
    }
  }

  /** A run that is begun again, by a resume, starts from what is kept. */
  private begin({
    run,
    name,
    resumes,
    timeMs,
    steps,
    counts,
  }: Extract<RunEvent, { readonly type: 'run_started' }>): void {
    this.run = run
    this.name = name
    this.resumes = resumes
    this.startedAtMs = timeMs
    this.state = null
    for (const state of ACTIVE_STATES) this.active[state].clear()
    this.maps.clear()
    this.ended.length = 0
    this.endedHere = 0
    this.names = new Map(steps.map((step) => [step.id, step.name]))
    this.listed = steps.filter(({ id }) => !isFallbackId(id)).length
    this.endedSteps = 0
    this.counts = {}
    for (const [state, count] of Object.entries(counts) as [StepState, number][]) {
      if (!ENDED.has(state)) continue
      this.counts[state] = count
      this.endedSteps += count
    }
  }

  private move(event: StepEvent, to: ActiveState, changes: Partial<ActiveStep>): void {
    const before = this.take(event.step)
    this.active[to].set(event.step, {
      ...(before ?? UNKNOWN_STEP),
      nextAttemptAtMs: null,
      budget: null,
      ...stepOf(event),
      sinceMs: event.timeMs,
      ...changes,
    })
  }

  private amend(step: string, changes: Partial<ActiveStep>): void {
    for (const state of ACTIVE_STATES) {
      const known = this.active[state].get(step)
      if (known !== undefined) this.active[state].set(step, { ...known, ...changes })
    }
  }

  private finish(event: Finished): void {
    const { state, durationMs, waitedMs, stopReason, failure } = event
    const before = this.take(event.step)
    // A success after a failure says what had failed.
    const cause = failure ?? (state === 'recovered' ? (before?.failure ?? null) : null)
    this.end({ ...stepOf(event), state, durationMs, waitedMs, stopReason, failure: cause, note: null })
  }

  /** One that was interrupted has not ended, and stays as it was last seen. */
  private endMap({ step, state, counts, timeMs }: Extract<RunEvent, { readonly type: 'map_finished' }>): void {
    const before = this.maps.get(step)
    if (state === 'interrupted' || state === 'running') {
      if (before !== undefined) this.maps.set(step, { ...before, counts, running: [], perSecond: null, etaMs: null })
      return
    }
    this.maps.delete(step)
    const durationMs = before === undefined ? null : timeMs - before.sinceMs
    const became = state === 'succeeded' || state === 'cancelled' ? state : 'failed'
    const about = { step, attempt: 0, attempts: 1, durationMs, note: countsText(counts) }
    this.end({ ...UNKNOWN_END, ...about, state: became })
  }

  private end(ended: EndedStep): void {
    this.take(ended.step)
    this.counts[ended.state] = (this.counts[ended.state] ?? 0) + 1
    if (!isFallbackId(ended.step)) this.endedSteps++
    this.endedHere++
    this.ended.push(ended)
    if (this.ended.length > MAX_ENDED) this.ended.shift()
  }

  private take(step: string): ActiveStep | undefined {
    for (const state of ACTIVE_STATES) {
      const known = this.active[state].get(step)
      if (known === undefined) continue
      this.active[state].delete(step)
      return known
    }
    return undefined
  }
}

function stepOf({ step, attempt, attempts }: StepEvent): Pick<ActiveStep, 'step' | 'attempt' | 'attempts'> {
  return { step, attempt, attempts }
}

const UNKNOWN_STEP = { waitedMs: 0, retryBudgetMs: null, failure: null, output: null } as const
const UNKNOWN_END = { durationMs: null, waitedMs: 0, stopReason: null, failure: null } as const
