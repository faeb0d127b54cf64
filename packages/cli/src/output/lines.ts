/**
 * A run as lines, one per thing that happens: for pipes, CI and `-v`. A retry line names the attempt to come; a failure
 * says why it is final. Text of others is made plain. Imports words and types.
 */
import type { RunEvent, StepState } from '@reprise/workflow'
import { attemptsText, deniedText, failureText, plural, roundedDuration, skipText } from '@reprise/workflow/internal'
import { plainText, storeAwayLine, storeBackLine } from 'reprise/internal'
import type { Display } from './display.js'
import { MapLines } from './map-lines.js'
import { StepNames } from './step-names.js'

type StepEvent = Extract<RunEvent, { readonly attempts: number }>
type Finished = Extract<RunEvent, { readonly type: 'step_finished' }>
type EventOf<T> = Extract<RunEvent, { readonly type: T }>

const MAX_NAME = 130
const DONE = ['succeeded', 'recovered', 'skipped', 'failed', 'cancelled'] as const satisfies readonly StepState[]

/** Remembers which of the steps in hand it has spoken of. */
export class RunLines {
  private readonly display: Display
  private readonly names: StepNames
  private readonly begun = new Set<string>()
  private readonly maps: MapLines

  constructor(display: Display, names: StepNames = new StepNames()) {
    this.display = display
    this.names = names
    this.maps = new MapLines(display, names)
  }

  /** Mostly one line, or none. Quiet leaves out all but final failures. */
  linesOf(event: RunEvent): string[] {
    this.names.hear(event)
    if (this.display.quiet && !isFinalFailure(event)) return []
    switch (event.type) {
      case 'run_started':
        return [startLine(event)]
      case 'attempt_started':
        return this.attemptLines(event)
      case 'attempt_failed':
        return this.display.verbose ? [this.attemptFailureLine(event)] : []
      case 'waiting':
        return [this.retryLine(event)]
      case 'parked':
        return [
          `${this.display.style.yellow('Parked')} ${this.attemptOf(event)}: waiting in the queue of budget ${plainText(event.budget)}`,
        ]
      case 'step_finished':
        return this.endLines(event)
      case 'step_skipped':
        return [`Skipped ${this.nameOf(event)}: ${plainText(skipText(event.reason))}`]
      case 'fallback_started':
        this.begun.add(event.fallback.id)
        return [`Running the fallback of ${this.nameOf(event)}`]
      case 'breaker_changed':
        return [`Breaker ${plainText(event.breaker)} is ${plainText(event.to)} (was ${plainText(event.from)})`]
      case 'budget_denied':
        return [`Budget ${plainText(event.budget)} denies ${this.nameOf(event)}: ${plainText(event.reason)}`]
      case 'group_waiting':
        return [`Waiting for run ${plainText(event.holder)}, which has the group ${plainText(event.group)}`]
      case 'store_away':
      case 'store_back':
        return [storeLine(event)]
      case 'map_started':
      case 'map_progress':
      case 'map_note':
      case 'item_failed':
      case 'map_finished':
        return this.maps.linesOf(event)
      case 'output':
      case 'run_finished':
        return []
    }
  }

  /** A retry has been spoken of already. */
  private attemptLines(event: StepEvent): string[] {
    if (this.begun.has(event.step) && !this.display.verbose) return []
    this.begun.add(event.step)
    return [`Running ${event.attempt > 1 ? this.attemptOf(event) : this.nameOf(event)}`]
  }

  private attemptFailureLine({ durationMs, timedOut, failure, ...event }: EventOf<'attempt_failed'>): string {
    const how = timedOut ? 'timed out' : 'failed'
    const attempt = `Attempt ${event.attempt}/${event.attempts} of ${this.nameOf(event)}`
    return `${attempt} ${how} after ${roundedDuration(durationMs)}${because(failureText(failure))}`
  }

  private retryLine(event: EventOf<'waiting'>): string {
    this.begun.add(event.step)
    const retrying = `${this.display.style.yellow('Retrying')} ${this.attemptOf(event)}`
    return `${retrying} after ${roundedDuration(event.delayMs)}${because(failureText(event.failure))}`
  }

  private endLines(event: Finished): string[] {
    this.begun.delete(event.step)
    const { style, quiet } = this.display
    const name = this.nameOf(event)
    switch (event.state) {
      case 'succeeded':
        return [`${style.green('ok')} ${name} (${roundedDuration(event.durationMs)})`]
      case 'recovered': {
        const waited = event.waitedMs > 0 ? `, waited ${roundedDuration(event.waitedMs)}` : ''
        return [`${style.green('ok')} ${name} (recovered at attempt ${event.attempt}/${event.attempts}${waited})`]
      }
      case 'undecided': {
        const attempt = `attempt ${event.attempt}/${event.attempts}`
        return [
          `${style.red('UNDECIDED')} ${name}: ${attempt} was interrupted, and it is not known whether it took effect`,
        ]
      }
      case 'cancelled':
        return [`Cancelled ${name}`]
      case 'failed': {
        const warning = event.stopReason === 'retry_budget_exhausted' && !quiet
        return [...(warning ? [`Retry budget exhausted for ${name}`] : []), this.failureLine(event)]
      }
      default:
        return []
    }
  }

  private failureLine(event: Finished): string {
    const why = [event.stopReason ?? '', event.continued ? 'the run goes on' : ''].filter((part) => part !== '')
    const reason = why.length === 0 ? '' : ` (${why.join('; ')})`
    const head = `${this.display.style.red('FAILED')} ${this.nameOf(event)} after ${attemptsText(event.attempt)}`
    const denied = deniedText(event.failure)
    const cause = [denied, failureText(event.failure)].filter((text) => text !== '').join('; before that: ')
    return `${head}${reason}${because(cause)}`
  }

  private attemptOf(event: StepEvent): string {
    return `${this.nameOf(event)} (attempt ${event.attempt}/${event.attempts})`
  }

  private nameOf(of: { readonly step: string }): string {
    return this.names.nameOf(of)
  }
}

/** Said in a live view too, which has no place for it. */
export function storeLine(event: EventOf<'store_away' | 'store_back'>): string {
  const { type, store } = event
  return type === 'store_away' ? storeAwayLine(store, event.reason) : storeBackLine(store, event.awayMs)
}

function isFinalFailure(event: RunEvent): boolean {
  if (event.type === 'map_finished') return event.state === 'failed'
  return event.type === 'step_finished' && (event.state === 'failed' || event.state === 'undecided')
}

function startLine({ run, name, steps, counts, resumes }: EventOf<'run_started'>): string {
  const about = `run ${plainText(run)}: ${plainText(name, MAX_NAME)}`
  if (resumes === 0) return `Starting ${about}, ${plural(steps.length, 'step')}`
  const done = DONE.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return `Resuming ${about}, ${done} of ${plural(steps.length, 'step')} done`
}

function because(cause: string): string {
  return cause === '' ? '' : `: ${cause}`
}
