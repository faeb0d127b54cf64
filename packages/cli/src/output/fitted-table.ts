/**
 * Tables that fit the window: texts are cut down to what they can do with, then the least important columns go. In a pipe
 * everything is there. Imports tables and widths.
 */
import type { Display } from './display.js'
import { GAP, INDENT } from './table.js'
import { cutText, padText, textWidth } from './width.js'

export interface FittedColumn<T> {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Without colours. */
  readonly cell: (row: T) => string
  readonly paint?: (row: T) => (text: string) => string
  /** It may be cut, down to so many cells. */
  readonly least?: number
  /** It may go; the highest number first. */
  readonly expendable?: number
}

interface Measured<T> {
  readonly column: FittedColumn<T>
  readonly cells: readonly string[]
  width: number
}

/** The first line is the titles. A row that is a string is a line of its own. A column without any text is left out. */
export function fitTable<T>(
  columns: readonly FittedColumn<T>[],
  rows: readonly (T | string)[],
  display: Display,
): string[] {
  const measured = fit(
    columns.map((column) => measure(column, rows)).filter((column) => column !== undefined),
    display.screen,
  )
  const titles = measured.map(({ column, width }) => padText(cutText(column.title, width), width, column.align))
  const lines = rows.map((row, index) => {
    if (typeof row === 'string') return INDENT + display.style.dim(cutText(row, display.screen - INDENT.length))
    const cells = measured.map(({ column, cells: texts, width }) => {
      const text = padText(cutText(texts[index] ?? '', width), width, column.align)
      return column.paint === undefined ? text : column.paint(row)(text)
    })
    return (INDENT + cells.join(GAP)).trimEnd()
  })
  return [(INDENT + display.style.dim(titles.join(GAP))).trimEnd(), ...lines]
}

/**
 * A table whose first columns are ids, which are typed again and so never cut. Where they leave no space for the columns
 * that cannot go, they stand on a line of their own above the rest of their row.
 */
export function fitTableWithIds<T>(
  ids: readonly FittedColumn<T>[],
  columns: readonly FittedColumn<T>[],
  rows: readonly T[],
  display: Display,
): string[] {
  const needed = [...ids, ...columns.filter(({ expendable }) => expendable === undefined)]
  const least = needed.flatMap((column) => {
    const measured = measure(column, rows)
    return measured === undefined ? [] : [leastOf(measured)]
  })
  if (INDENT.length + least.reduce((sum, width) => sum + width + GAP.length, -GAP.length) <= display.screen)
    return fitTable([...ids, ...columns], rows, display)
  const indent = (line: string): string => `${INDENT}${line}`
  const [titles = '', ...lines] = fitTable(columns, rows, { ...display, screen: display.screen - INDENT.length })
  const idLine = (row: T): string =>
    INDENT + ids.map(({ cell, paint }) => (paint?.(row) ?? ((text: string) => text))(cell(row))).join('  ')
  return [indent(titles), ...rows.flatMap((row, index) => [idLine(row), indent(lines[index] ?? '')])]
}

function measure<T>(column: FittedColumn<T>, rows: readonly (T | string)[]): Measured<T> | undefined {
  const cells = rows.map((row) => (typeof row === 'string' ? '' : column.cell(row)))
  const widest = cells.reduce((most, cell) => Math.max(most, textWidth(cell)), 0)
  return widest === 0 ? undefined : { column, cells, width: Math.max(widest, textWidth(column.title)) }
}

function fit<T>(columns: readonly Measured<T>[], lineWidth: number): readonly Measured<T>[] {
  const over = (among: readonly Measured<T>[]): number =>
    INDENT.length + among.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length) - lineWidth
  // Would it fit if everything were cut?
  const cut = columns.map((column) => ({ ...column, width: leastOf(column) }))
  if (over(cut) > 0) {
    const going = columns.reduce<Measured<T> | undefined>(
      (most, one) => ((one.column.expendable ?? 0) > (most?.column.expendable ?? 0) ? one : most),
      undefined,
    )
    if (going !== undefined)
      return fit(
        columns.filter((one) => one !== going),
        lineWidth,
      )
  }
  const fitted = columns.map((column) => ({ ...column }))
  for (let excess = over(fitted); excess > 0; excess--) {
    const widest = fitted.reduce<Measured<T> | undefined>(
      (most, one) => (one.width > leastOf(one) && one.width > (most?.width ?? 0) ? one : most),
      undefined,
    )
    if (widest === undefined) break
    widest.width--
  }
  return fitted
}

function leastOf<T>({ column, width }: Measured<T>): number {
  return Math.min(width, column.least ?? width)
}
