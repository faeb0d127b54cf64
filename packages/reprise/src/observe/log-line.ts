/**
 * The line for people: what a program says about its retries while it runs.
 *
 * A retry line names the attempt to come; the last line of a failed call names why it stopped. Text of errors is made
 * plain before it is shown. Imports core and the layer's own files.
 */
import { formatDuration } from '../core/duration.js'
import type { Observer, RepriseEvent } from '../core/event.js'
import { expectOptions, FLAG } from '../core/options.js'
import { describeError, property } from './plain-text.js'

type Failure = Extract<RepriseEvent, { readonly type: 'call_failed' }>
type Restored = Extract<RepriseEvent, { readonly type: 'restored' }>

/** Options of `logger`. */
export interface LoggerOptions {
  /** Whether retries are left out; a final failure is still written. @default false @example { quiet: true } */
  readonly quiet?: boolean
}

/** What need not be heard if it ends well. */
const QUIET: ReadonlySet<RepriseEvent['type']> = new Set(['waiting', 'resumed', 'interrupted'])

/**
 * Makes an observer that writes a line for each event that has one; `write` is given the line without a line break.
 * @example const api = createExecutor({ observers: [logger((line) => console.error(line))] })
 */
export function logger(write: (line: string) => void, options: LoggerOptions = {}): Observer {
  expectOptions('logger', options, { quiet: FLAG })
  return {
    onEvent(event) {
      if (options.quiet === true && QUIET.has(event.type)) return
      const line = logLine(event)
      if (line !== undefined) write(line)
    },
  }
}

/**
 * The line for an event, such as `Retrying price (attempt 2/5) after 350ms: …`; undefined for an event that has none.
 * @example const observer: Observer = { onEvent: (event) => console.log(logLine(event) ?? event.type) }
 */
export function logLine(event: RepriseEvent): string | undefined {
  if (event.type === 'call_failed') return failureLine(event)
  if (event.type === 'state_refused') return `${nameOf(event)} is left as it is: ${event.faults.join('; ')}`
  if (event.type === 'resumed') return `${nameOf(event)} goes on here: the process that had it is gone`
  if (event.type === 'restored') return restoredLine(event)
  if (event.type === 'queue_held') return `${nameOf(event)} is held by ${event.gate} (${event.reason})`
  if (event.type === 'queue_released') return `${nameOf(event)} goes on: ${event.gate} allows it again`
  if (event.type === 'store_away') return storeAwayLine(event.store, event.reason)
  if (event.type === 'store_back') return storeBackLine(event.store, event.awayMs)
  if (event.type === 'interrupted' && event.orderly) {
    return `${nameOf(event)} was interrupted in attempt ${event.attempt}/${event.attempts}: it goes on when it is resumed`
  }
  if (event.type !== 'waiting') return undefined
  const attempt = `attempt ${event.nextAttempt}/${event.attempts}`
  return `Retrying ${nameOf(event)} (${attempt}) after ${roundedDuration(event.delayMs)}: ${describeError(event.error)}`
}

/** The line for a store that does not answer. */
export function storeAwayLine(store: string, reason: string): string {
  return `The store ${describeError(store, 260)} does not answer (${describeError(reason)}): what is to be recorded waits for it`
}

/** The line for a store that was away. */
export function storeBackLine(store: string, awayMs: number): string {
  return `The store ${describeError(store, 260)} answers again, after ${roundedDuration(awayMs)}`
}

/** Nothing where nothing was left. */
function restoredLine({ resumed, waiting, migrated, refused }: Restored): string | undefined {
  if (resumed + waiting + migrated + refused === 0) return undefined
  const rest = [...(migrated > 0 ? [`${migrated} migrated`] : []), ...(refused > 0 ? [`${refused} refused`] : [])]
  return `Resumed: ${[`${resumed} taken over`, `${waiting} waiting`, ...rest].join(', ')}`
}

function failureLine(event: Failure): string {
  const attempts = event.attemptsMade === 1 ? '1 attempt' : `${event.attemptsMade} attempts`
  if (event.stopReason !== 'retry_budget_exhausted') {
    return `${nameOf(event)} failed after ${attempts} (${event.stopReason}): ${describeError(event.error)}`
  }
  // The error repeats what the line says; its cause is what went wrong.
  const cause = describeError(property(event.error, 'cause') ?? event.error)
  return `Retry budget exhausted for ${nameOf(event)} after ${attempts}: ${cause}`
}

function nameOf(event: RepriseEvent): string {
  return describeError(event.taskId === undefined ? event.key : `${event.key}/${event.taskId}`, 260)
}

/** As exact as people want it: `350ms`, `1.2s`, `1m30s`. */
function roundedDuration(ms: number): string {
  if (ms < 1000) return formatDuration(Math.round(ms))
  const tenths = Math.round(ms / 100)
  return tenths < 600 ? `${tenths / 10}s` : formatDuration(Math.round(ms / 1000) * 1000)
}
