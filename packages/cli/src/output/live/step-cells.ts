/**
 * The steps of a live view as rows whose cells stand under each other, none longer than the window. Imports the model,
 * words and widths. Text of others is made plain.
 */
import type { StepState } from '@reprise/workflow'
import { failureText, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'
import { countdown, elapsed } from '../relative-time.js'
import { stepLabel, stepPaint } from '../state-words.js'
import { cutText, padText, textWidth } from '../width.js'
import type { ActiveState, ActiveStep, EndedStep } from './run-model.js'

export interface StepCells {
  readonly state: StepState
  readonly name: string
  /** `2/5`. */
  readonly attempt: string
  /** How long it took, takes, or will wait. */
  readonly timing: string
  /** `6s of 12s`. */
  readonly waited: string
  /** What fails, what is said. */
  readonly rest: string
}

/** A narrower window gets one space between cells. */
const NARROW = 64
/** A wider one has space for words beside the figures. */
const WIDE = 110
const MAX_NAME = 40
const LABEL = textWidth('✓ recovered')
/** Less of a text than this says nothing. */
const MIN_REST = 8

export function activeCells(state: ActiveState, step: ActiveStep, name: string, nowMs: number): StepCells {
  return {
    state,
    name: plainText(name),
    attempt: attemptText(step),
    timing: timing(state, step, nowMs),
    waited: state === 'running' ? '' : waitedSoFar(step, nowMs),
    rest: activeRest(state, step),
  }
}

/** `2.8s of 12s`: the chosen waits, but for the part of the current one that is not over. */
function waitedSoFar({ waitedMs, nextAttemptAtMs, retryBudgetMs }: ActiveStep, nowMs: number): string {
  const overMs = waitedMs - Math.max(0, (nextAttemptAtMs ?? nowMs) - nowMs)
  if (waitedMs === 0) return ''
  return retryBudgetMs === null ? elapsed(overMs) : `${elapsed(overMs)} of ${roundedDuration(retryBudgetMs)}`
}

export function endedCells(step: EndedStep, name: string): StepCells {
  const { state, durationMs, waitedMs, stopReason, failure, note } = step
  const cause = failureText(failure)
  const why = stopReason === null ? '' : `(${stopReason})`
  return {
    state,
    name: plainText(name),
    attempt: state === 'skipped' || state === 'succeeded' ? '' : attemptText(step),
    timing: durationMs === null ? '' : roundedDuration(durationMs),
    waited: waitedMs === 0 ? '' : `waited ${roundedDuration(waitedMs)}`,
    rest:
      note === null
        ? [why, state === 'recovered' && cause !== '' ? `after ${cause}` : cause].filter(Boolean).join(' ')
        : plainText(note),
  }
}

/** Lines of at most so many cells. */
export function layOut(rows: readonly StepCells[], cells: number, display: Display): string[] {
  const [isNarrow, isWide] = [cells < NARROW, cells >= WIDE]
  const gap = isNarrow ? ' ' : '  '
  const worded = (word: string, figure: string): string => (isWide && figure !== '' ? `${word} ${figure}` : figure)
  const shown = rows.map((row) => ({
    ...row,
    attempt: worded('attempt', row.attempt),
    waited: row.waited.startsWith('waited') ? row.waited : worded('waited', row.waited),
  }))
  const widest = (key: keyof StepCells): number => shown.reduce((most, row) => Math.max(most, textWidth(row[key])), 0)
  const [attempt, timed] = [widest('attempt'), widest('timing')]
  const besides = [LABEL, attempt, timed].reduce((sum, width) => sum + (width === 0 ? 0 : width + gap.length), 0)
  const space = isNarrow ? cells - besides : Math.floor(cells / (isWide ? 3 : 4))
  const name = Math.min(widest('name'), MAX_NAME, Math.max(MIN_REST, space))
  // What failed says more than how long it was waited for.
  const waited = cells - besides - name - widest('waited') - 2 * gap.length < MIN_REST ? 0 : widest('waited')
  return shown.map((row) => {
    const paint = stepPaint(row.state, display)
    const columns: readonly (readonly [text: string, cells: number, paint?: (text: string) => string])[] = [
      [stepLabel(row.state, display), LABEL, paint],
      [row.name, name, display.style.bold],
      [row.attempt, attempt],
      [row.timing, timed],
      [row.waited, waited],
    ]
    return line(columns, row, gap, cells, display)
  })
}

function line(
  columns: readonly (readonly [text: string, cells: number, paint?: (text: string) => string])[],
  row: StepCells,
  gap: string,
  cells: number,
  display: Display,
): string {
  let text = ''
  let left = cells
  for (const [cell, width, paint = (plain: string): string => plain] of columns) {
    const before = text === '' ? '' : gap
    if (width === 0 || left < before.length + width) continue
    text += before + paint(padText(cutText(cell, width), width))
    left -= before.length + width
  }
  const rest = left - gap.length < MIN_REST ? '' : cutText(row.rest, left - gap.length)
  if (rest === '') return text.trimEnd()
  return text + gap + (row.state === 'failed' ? display.style.red(rest) : display.style.dim(rest))
}

function attemptText({ attempt, attempts }: { readonly attempt: number; readonly attempts: number }): string {
  return attempts > 1 ? `${attempt}/${attempts}` : ''
}

function timing(state: ActiveState, { nextAttemptAtMs, sinceMs }: ActiveStep, nowMs: number): string {
  if (state === 'retrying') return `next ${inTime(nextAttemptAtMs ?? nowMs, nowMs)}`
  return state === 'parked' ? `queued ${elapsed(nowMs - sinceMs)}` : elapsed(nowMs - sinceMs)
}

function inTime(timeMs: number, nowMs: number): string {
  const left = countdown(timeMs, nowMs)
  return left === 'now' ? left : `in ${left}`
}

function activeRest(state: ActiveState, { failure, output, budget }: ActiveStep): string {
  if (state === 'parked' && budget !== null) return `budget ${plainText(budget)}`
  if (state === 'running' && output !== null) return plainText(output)
  const cause = failureText(failure)
  return state === 'running' && cause !== '' ? `after ${cause}` : cause
}
