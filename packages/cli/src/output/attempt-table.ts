/** The attempts of a policy as a table, with bars on a terminal. Imports the table, styles and data. */
import { type ExplainedAttempt, roundedDuration } from '@reprise/workflow/internal'
import { fitTable, type FittedColumn } from './fitted-table.js'
import type { Display } from './display.js'
import type { Style } from './style.js'
import { GAP } from './table.js'
import { textWidth } from './width.js'

/** A longer table is shortened in the middle, to so many rows at its start and end. */
const HEAD_ROWS = 12
const TAIL_ROWS = 3
const MIN_BAR = 8
const MAX_BAR = 24

export function attemptTable(rows: readonly ExplainedAttempt[], display: Display): string[] {
  const columns = columnsFor(rows, display.style)
  const longestMs = rows.reduce((most, row) => Math.max(most, row.maxWaitMs), 0)
  const shown = shorten(rows, display)
  const widest = fitTable(columns, shown, display).reduce((most, line) => Math.max(most, textWidth(line)), 0)
  const cells = Math.min(MAX_BAR, display.screen - widest - GAP.length)
  if (display.bars && longestMs > 0 && cells >= MIN_BAR) {
    const paint = (): Style['cyan'] => display.style.cyan
    columns.push({ title: '', cell: (row) => bar(row, longestMs, cells), paint })
  }
  return fitTable(columns, shown, display)
}

function columnsFor(rows: readonly ExplainedAttempt[], style: Style): FittedColumn<ExplainedAttempt>[] {
  const isFirst = (row: ExplainedAttempt): boolean => row.attempt === 1
  const columns: FittedColumn<ExplainedAttempt>[] = [
    { title: 'attempt', align: 'right', cell: (row) => String(row.attempt), paint: () => style.bold },
    { title: 'wait before', align: 'right', cell: (row) => (isFirst(row) ? '–' : roundedDuration(row.waitMs)) },
  ]
  if (rows.some((row) => row.minWaitMs !== row.maxWaitMs)) {
    const cell = (row: ExplainedAttempt): string => (isFirst(row) ? '–' : range(row.minWaitMs, row.maxWaitMs))
    columns.push({ title: 'with jitter', align: 'right', cell, expendable: 2 })
  }
  const waited = (row: ExplainedAttempt): string => range(row.minWaitedMs, row.maxWaitedMs)
  columns.push({ title: 'waited so far', align: 'right', cell: waited, expendable: 1 })
  if (rows.some((row) => row.budgetShare !== null)) {
    const cell = (row: ExplainedAttempt): string => `${Math.round((row.budgetShare ?? 0) * 100)} %`
    columns.push({ title: 'of budget', align: 'right', cell, expendable: 3 })
  }
  return columns
}

function shorten(rows: readonly ExplainedAttempt[], display: Display): readonly (ExplainedAttempt | string)[] {
  const left = rows.length - HEAD_ROWS - TAIL_ROWS
  if (display.verbose || left <= 1) return rows
  return [...rows.slice(0, HEAD_ROWS), `… ${left} attempts left out, -v shows them`, ...rows.slice(-TAIL_ROWS)]
}

export function range(leastMs: number, mostMs: number): string {
  const [least, most] = [roundedDuration(leastMs), roundedDuration(mostMs)]
  return least === most ? most : `${least} – ${most}`
}

/** Solid is what is waited for certain, hatched what chance may add. */
function bar(row: ExplainedAttempt, longestMs: number, cells: number): string {
  const scale = (ms: number): number => Math.round((ms / longestMs) * cells)
  const solid = scale(row.minWaitMs)
  const hatched = Math.max(scale(row.maxWaitMs), row.maxWaitMs > 0 ? 1 : 0) - solid
  return '█'.repeat(solid) + '░'.repeat(Math.max(0, hatched))
}
