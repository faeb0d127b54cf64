/**
 * One picture of a run: title, what has ended last, what is in hand, how far it is. Never higher or wider than the
 * window, and as cheap with a hundred thousand steps as with ten. Imports the model, rows, words and widths.
 */
import { plural, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'
import { coarseDuration, elapsed } from '../relative-time.js'
import { countParts, stepWord } from '../state-words.js'
import { cutText, textWidth } from '../width.js'
import { drawBar, mapRows } from './map-rows.js'
import { ACTIVE_STATES, type ActiveState, type EndedStep, type RunModel } from './run-model.js'
import { activeCells, endedCells, layOut, type StepCells } from './step-cells.js'

export interface Window {
  readonly columns: number
  readonly rows: number
}

/** Nobody reads more, however high the window is. */
const MAX_HEIGHT = 40
/** Of the steps that have ended, so many are shown; fewer where others need the space, but for the last few. */
const MAX_SHOWN = 8
const FEW = 4
const NARROW = 64
/** Less of a name than this says nothing. */
const MIN_NAME = 8
/** Shorter waits and downtimes are not worth a word. */
const LEAST_APART_MS = 100
/** Lines of a map without its running items. */
const MAP_HEAD = 2
/** A rate of fewer says nothing. */
const MIN_FOR_RATE = 10

export function composeFrame(model: RunModel, nowMs: number, window: Window, display: Display): string[] {
  // The last column stays free, for terminals that break a line which fills it; the last line is the cursor's.
  const cells = Math.max(1, window.columns - 1)
  const height = Math.max(1, Math.min(MAX_HEIGHT, window.rows - 1))
  const progress = progressLine(model, nowMs, cells, display)
  if (height < 3) return [progress]
  const space = height - 2
  const few = Math.min(MAX_SHOWN, Math.max(Math.min(FEW, space >> 2), space - model.activeCount - model.mapLines))
  const ended = few === 0 ? [] : model.ended.slice(-few).map((step) => cellsOf(model, step))
  const maps = rowsOfMaps(model, nowMs, cells, space - ended.length, display)
  const { rows, hidden } = activeRows(model, nowMs, space - ended.length - maps.length)
  const lines = [...layOut([...ended, ...rows], cells, display), ...maps]
  return [titleLine(model, cells, display), ...lines, ...hiddenLine(hidden, cells, display), progress]
}

/** What stays on the screen when it is over: what was in hand, the last that ended, and counts. */
export function composeEnd(model: RunModel, nowMs: number, columns: number, display: Display): string[] {
  const cells = Math.max(1, columns - 1)
  const { rows, hidden } = activeRows(model, nowMs, FEW * 5)
  const before = model.endedHere - model.ended.length
  return [
    titleLine(model, cells, display),
    ...hiddenLine(before > 0 ? `${plural(before, 'step')} before these` : '', cells, display),
    ...layOut([...model.ended.map((step) => cellsOf(model, step)), ...rows], cells, display),
    ...rowsOfMaps(model, nowMs, cells, MAP_HEAD, display),
    ...hiddenLine(hidden, cells, display),
    progressLine(model, nowMs, cells, display),
  ]
}

/** Of each map its bar, its states and the items that run, as many as there is space for. */
function rowsOfMaps(model: RunModel, nowMs: number, cells: number, space: number, display: Display): string[] {
  const rows: string[] = []
  for (const [id, map] of model.maps)
    rows.push(...mapRows(map, model.nameOf(id), { nowMs, cells, space: space - rows.length }, display))
  return rows
}

function cellsOf(model: RunModel, step: EndedStep): StepCells {
  return endedCells(step, model.nameOf(step.step))
}

/** As many as there is space for, a fair part of each state; and in words those that are left out. */
function activeRows(model: RunModel, nowMs: number, space: number): { rows: StepCells[]; hidden: string } {
  const sizes = ACTIVE_STATES.map((state) => model.active[state].size)
  const isTooMany = model.activeCount > space
  const shares = shareOut(sizes, isTooMany ? space - 1 : space)
  const rows = ACTIVE_STATES.flatMap((state, index) =>
    first(model.active[state].values(), shares[index] ?? 0).map((step) =>
      activeCells(state, step, model.nameOf(step.step), nowMs),
    ),
  )
  const left = ACTIVE_STATES.flatMap((state: ActiveState, index) => {
    const count = (sizes[index] ?? 0) - (shares[index] ?? 0)
    return count === 0 ? [] : [`${count} more ${stepWord(state)}`]
  })
  return { rows, hidden: left.join(', ') }
}

/** Space for each, none more than it needs; what one does not need goes to the others. */
export function shareOut(needs: readonly number[], space: number): number[] {
  const shares = needs.map(() => 0)
  let left = Math.max(0, space)
  while (left > 0) {
    const open = needs.flatMap((need, index) => ((shares[index] ?? 0) < need ? [index] : []))
    if (open.length === 0) break
    const each = Math.max(1, Math.floor(left / open.length))
    for (const index of open) {
      const more = Math.min(each, left, (needs[index] ?? 0) - (shares[index] ?? 0))
      shares[index] = (shares[index] ?? 0) + more
      left -= more
    }
  }
  return shares
}

function first<T>(values: Iterable<T>, count: number): T[] {
  const taken: T[] = []
  if (count <= 0) return taken
  for (const value of values) {
    taken.push(value)
    if (taken.length >= count) break
  }
  return taken
}

/** The id is typed again, and so whole or not there: the name of the workflow is cut, and goes, before it. */
function titleLine({ name, run, resumes }: RunModel, cells: number, { style }: Display): string {
  const id = `run ${plainText(run)}`
  const about = [id, ...(resumes > 0 ? [`resumed ${resumes}×`] : [])].join(', ')
  const rest = [about, id].find((text) => textWidth(text) + 2 + MIN_NAME <= cells) ?? (textWidth(id) <= cells ? id : '')
  const title = cutText(plainText(name), rest === '' ? cells : Math.max(0, cells - textWidth(rest) - 2))
  const shown = rest !== '' && textWidth(title) < Math.min(MIN_NAME, textWidth(plainText(name))) ? '' : title
  return [style.bold(shown), style.dim(rest)].filter((text) => textWidth(text) > 0).join('  ')
}

/**
 * `[████░░░░] 12/20 steps  1m12s  waited 4s  1 FAILED  9 ok  3.1/s, about 2m left`; what has no space is left out. Waits
 * are beside the time of steps, which stands still meanwhile.
 */
function progressLine(model: RunModel, nowMs: number, cells: number, display: Display): string {
  const isNarrow = cells < NARROW
  const { done, total, counts } = model
  const { activeMs, waitedMs, downMs } = model.clock.at(nowMs)
  // Once it is over, the figures are those of every later report.
  const show = model.state === null ? elapsed : roundedDuration
  const apart = (word: string, ms: number): string => (ms < LEAST_APART_MS ? '' : `${word} ${show(ms)}`)
  const bar = drawBar(total === 0 ? 0 : done / total, isNarrow ? 8 : 20, display)
  const plain = (text: string): { text: string; painted: string } => ({ text, painted: text })
  const parts = [
    plain(`${done}/${total}${isNarrow ? '' : ' steps'}`),
    plain(show(activeMs)),
    plain(apart('waited', waitedMs)),
    plain(apart('down', downMs)),
    ...countParts(counts, display),
    plain(rateText(model, nowMs)),
  ]
  const gap = isNarrow ? ' ' : '  '
  let line = cutText(bar, cells)
  let left = cells - textWidth(line)
  for (const { text, painted } of parts) {
    left -= text === '' ? 0 : textWidth(text) + gap.length
    if (left < 0) break
    if (text !== '') line += gap + painted
  }
  return line
}

/** How fast steps end, and how long the others will take; only where there are many. */
function rateText({ endedHere, startedAtMs, total, done, state }: RunModel, nowMs: number): string {
  const seconds = startedAtMs === null ? 0 : (nowMs - startedAtMs) / 1000
  if (endedHere < MIN_FOR_RATE || seconds < 1 || state !== null || total <= done) return ''
  const rate = endedHere / seconds
  const left = coarseDuration(((total - done) / rate) * 1000)
  return `${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s, about ${left} left`
}

function hiddenLine(text: string, cells: number, { style }: Display): string[] {
  return text === '' ? [] : [style.dim(cutText(`  … ${text}`, cells))]
}
