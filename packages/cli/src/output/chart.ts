/**
 * The load of a server over time, drawn with characters: solid is what was of use, shaded the attempts beyond that, a
 * line the calls that were offered. Imports styles, scales and numbers.
 * Invariant: the glyphs differ, so that it reads the same without colours.
 */
import { plainNumber, resample, roundUp, timeTicks } from '@reprise/workflow/internal'
import { formatDuration } from 'reprise'
import type { Display } from './display.js'
import type { Style } from './style.js'

export interface LoadOverTime {
  /** In each second. */
  readonly attempts: readonly number[]
  readonly useful: readonly number[]
  /** Calls per second. */
  readonly offered: number
  /** In seconds from the start; undefined if there is none. */
  readonly fault: { readonly name: string; readonly from: number; readonly to: number } | undefined
}

const ROWS = 10
const MAX_COLUMNS = 100
const MIN_COLUMNS = 20
/** Cells of the numbers before the axis. */
const NUMBERS = 7
/** A label of the time axis with the space around it. */
const TIME_LABEL = 9

/** What can be in a cell. */
type Ink = 'useful' | 'load' | 'offered' | 'fault' | 'line' | 'none'

interface Glyphs extends Readonly<Record<Ink, string>> {
  /** The lower part of a cell, by eighths; empty if there are none. */
  readonly parts: readonly string[]
  readonly side: string
  readonly tick: string
  readonly corner: string
}

const BLOCKS: Glyphs = {
  ...{ useful: '█', load: '░', offered: '╌', fault: '━', line: '─', none: ' ' },
  ...{ parts: ['▁', '▂', '▃', '▄', '▅', '▆', '▇'], side: '│', tick: '┤', corner: '└' },
}
const ASCII: Glyphs = {
  ...{ useful: '#', load: ':', offered: '-', fault: '=', line: '-', none: ' ' },
  ...{ parts: [], side: '|', tick: '+', corner: '+' },
}
const INKS: Readonly<Record<Ink, (style: Style) => (text: string) => string>> = {
  useful: ({ green }) => green,
  load: ({ red }) => red,
  offered: ({ bold }) => bold,
  fault: ({ red }) => red,
  line: ({ dim }) => dim,
  none: () => (text) => text,
}

type Cell = readonly [ink: Ink, glyph: string]

export function drawLoad(load: LoadOverTime, display: Display): string[] {
  const { style } = display
  const glyphs = display.blocks ? BLOCKS : ASCII
  const columns = Math.max(MIN_COLUMNS, Math.min(display.width, MAX_COLUMNS) - NUMBERS - 2)
  const [attempts, useful] = [resample(load.attempts, columns), resample(load.useful, columns)]
  const top = roundUp(Math.max(load.offered, ...attempts, ...useful))
  const rows = Array.from({ length: ROWS }, (_, index) => ROWS - 1 - index)
  const body = rows.map((row) => {
    const label = row === ROWS - 1 ? top : row === ROWS / 2 - 1 ? top / 2 : undefined
    const [number, edge] = label === undefined ? ['', glyphs.side] : [plainNumber(label), glyphs.tick]
    const cells = attempts.map((height, column) =>
      cellAt(row, top / ROWS, height, useful[column] ?? 0, load.offered, glyphs),
    )
    return style.dim(`${number.padStart(NUMBERS)} ${edge}`) + painted(cells, style)
  })
  return [
    ...body,
    style.dim(`${'0'.padStart(NUMBERS)} ${glyphs.corner}`) + painted(axisCells(load, columns, glyphs), style),
    style.dim(' '.repeat(NUMBERS + 2) + timeLabels(load.attempts.length, columns)),
    legend(load, glyphs, style),
  ]
}

function cellAt(row: number, step: number, load: number, useful: number, offered: number, glyphs: Glyphs): Cell {
  const [low, high] = [row * step, (row + 1) * step]
  if (offered > low && offered <= high) return ['offered', glyphs.offered]
  const middle = low + step / 2
  if (useful >= high) return ['useful', glyphs.useful]
  // Only where no shade of the load would have to stand above the part of a block, in one cell.
  const isAlone = load < middle || load - useful < step / 4
  if (isAlone && useful > low && glyphs.parts.length > 0) {
    const eighths = Math.floor(((useful - low) / step) * 8)
    return eighths === 0 ? ['none', glyphs.none] : ['useful', glyphs.parts[eighths - 1] ?? glyphs.useful]
  }
  if (useful >= middle) return ['useful', glyphs.useful]
  return load >= middle ? ['load', glyphs.load] : ['none', glyphs.none]
}

/** The fault's span is another line, with its name in it where there is space. */
function axisCells({ fault, attempts }: LoadOverTime, columns: number, glyphs: Glyphs): Cell[] {
  const cells = Array.from({ length: columns }, (): Cell => ['line', glyphs.line])
  if (fault === undefined) return cells
  const columnOf = (second: number): number => Math.round((second / attempts.length) * columns)
  const [from, to] = [columnOf(fault.from), Math.max(columnOf(fault.to), columnOf(fault.from) + 1)]
  const name = ` ${fault.name} `
  const start = from + Math.floor((to - from - name.length) / 2)
  for (let column = from; column < to; column++) {
    const letter = start > from ? name[column - start] : undefined
    cells[column] = ['fault', letter ?? glyphs.fault]
  }
  return cells
}

function timeLabels(seconds: number, columns: number): string {
  let line = ''
  for (const tick of timeTicks(seconds, Math.floor(columns / TIME_LABEL))) {
    const label = tick === 0 ? '0s' : formatDuration(tick * 1000)
    const at = Math.round((tick / seconds) * columns)
    const start = Math.min(Math.max(0, at - Math.floor(label.length / 2)), columns - label.length)
    line = line.padEnd(start) + label
  }
  return line
}

function legend({ fault }: LoadOverTime, glyphs: Glyphs, style: Style): string {
  const entries: (readonly [Ink, string])[] = [
    ['useful', 'useful'],
    ['load', 'attempts beyond that'],
    ['offered', 'calls offered'],
  ]
  if (fault !== undefined) entries.push(['fault', fault.name])
  const words = entries.map(([ink, text]) => `${INKS[ink](style)(glyphs[ink].repeat(2))} ${text}`)
  return ' '.repeat(NUMBERS + 2) + words.join('   ')
}

/** Cells of one ink are painted at once: a line of escape sequences would be long. */
function painted(cells: readonly Cell[], style: Style): string {
  let text = ''
  for (let start = 0; start < cells.length; ) {
    const ink = cells[start]?.[0] ?? 'none'
    let end = start
    while (cells[end]?.[0] === ink) end++
    text += INKS[ink](style)(
      cells
        .slice(start, end)
        .map(([, glyph]) => glyph)
        .join(''),
    )
    start = end
  }
  return text.trimEnd()
}
