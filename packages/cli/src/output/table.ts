/** Columns that stand under each other. Imports the width of text. */
import { padText, textWidth } from './width.js'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

/** A cell per column, or a string: a line of its own. */
export type Row = readonly string[] | string

export const INDENT = '  '
export const GAP = '   '

/** The first line is the titles. */
export function alignTable(columns: readonly Column[], rows: readonly Row[], gap: string = GAP): string[] {
  const lines = [columns.map((column) => column.title), ...rows]
  const widths = columnWidths(columns, lines)
  return lines.map((row) => {
    if (typeof row === 'string') return INDENT + row
    const cells = columns.map((column, index) => padText(row[index] ?? '', widths[index] ?? 0, column.align))
    return (INDENT + cells.join(gap)).trimEnd()
  })
}

/** How many cells of a line would be left if one more column came to these. */
export function spaceBeside(
  columns: readonly Column[],
  rows: readonly Row[],
  lineWidth: number,
  gap: string = GAP,
): number {
  const widths = columnWidths(columns, [columns.map((column) => column.title), ...rows])
  return lineWidth - INDENT.length - widths.reduce((sum, width) => sum + width + gap.length, 0)
}

function columnWidths(columns: readonly Column[], lines: readonly Row[]): number[] {
  const widthIn = (row: Row, index: number): number => (typeof row === 'string' ? 0 : textWidth(row[index] ?? ''))
  return columns.map((_, index) => lines.reduce((most, row) => Math.max(most, widthIn(row, index)), 0))
}
