/** The attempts of a policy as a table, with bars on a terminal. Imports the table, styles and data. */
import type { AttemptRow } from '../explain/facts.js'
import { roundedDuration } from './duration.js'
import type { Look } from './look.js'
import type { Style } from './style.js'
import { alignTable, type Column, type Row, spaceBeside } from './table.js'

/** A longer table is shortened in the middle, to so many rows at its start and end. */
const HEAD_ROWS = 12
const TAIL_ROWS = 3
const MIN_BAR = 8
const MAX_BAR = 24

interface AttemptColumn extends Column {
  readonly cell: (row: AttemptRow) => string
}

export function attemptTable(rows: readonly AttemptRow[], look: Look): string[] {
  const columns = columnsFor(rows, look.style)
  const layOut = (among: readonly AttemptColumn[]): Row[] =>
    shorten(rows, look, (row) => among.map(({ cell }) => cell(row)))
  const longestMs = rows.reduce((most, row) => Math.max(most, row.maxWaitMs), 0)
  const cells = Math.min(MAX_BAR, spaceBeside(columns, layOut(columns), look.screen))
  if (look.bars && longestMs > 0 && cells >= MIN_BAR) {
    columns.push({ title: '', cell: (row) => bar(row, longestMs, cells, look.style) })
  }
  const titled = columns.map((column) => ({ ...column, title: look.style.dim(column.title) }))
  return alignTable(titled, layOut(columns))
}

function columnsFor(rows: readonly AttemptRow[], style: Style): AttemptColumn[] {
  const isFirst = (row: AttemptRow): boolean => row.attempt === 1
  const columns: AttemptColumn[] = [
    { title: 'attempt', align: 'right', cell: (row) => style.bold(String(row.attempt)) },
    { title: 'wait before', align: 'right', cell: (row) => (isFirst(row) ? '–' : roundedDuration(row.waitMs)) },
  ]
  if (rows.some((row) => row.minWaitMs !== row.maxWaitMs)) {
    const cell = (row: AttemptRow): string => (isFirst(row) ? '–' : range(row.minWaitMs, row.maxWaitMs))
    columns.push({ title: 'with jitter', align: 'right', cell })
  }
  const waited = (row: AttemptRow): string => range(row.minWaitedMs, row.maxWaitedMs)
  columns.push({ title: 'waited so far', align: 'right', cell: waited })
  if (rows.some((row) => row.budgetShare !== null)) {
    const cell = (row: AttemptRow): string => `${Math.round((row.budgetShare ?? 0) * 100)} %`
    columns.push({ title: 'of budget', align: 'right', cell })
  }
  return columns
}

function shorten(rows: readonly AttemptRow[], look: Look, layOut: (row: AttemptRow) => string[]): Row[] {
  const left = rows.length - HEAD_ROWS - TAIL_ROWS
  if (look.verbose || left <= 1) return rows.map(layOut)
  const gap = look.style.dim(`… ${left} attempts left out, -v shows them`)
  return [...rows.slice(0, HEAD_ROWS).map(layOut), gap, ...rows.slice(-TAIL_ROWS).map(layOut)]
}

export function range(leastMs: number, mostMs: number): string {
  const [least, most] = [roundedDuration(leastMs), roundedDuration(mostMs)]
  return least === most ? most : `${least} – ${most}`
}

/** Solid is what is waited for certain, hatched what chance may add. */
function bar(row: AttemptRow, longestMs: number, cells: number, style: Style): string {
  const scale = (ms: number): number => Math.round((ms / longestMs) * cells)
  const solid = scale(row.minWaitMs)
  const hatched = Math.max(scale(row.maxWaitMs), row.maxWaitMs > 0 ? 1 : 0) - solid
  return style.cyan('█'.repeat(solid) + '░'.repeat(Math.max(0, hatched)))
}
