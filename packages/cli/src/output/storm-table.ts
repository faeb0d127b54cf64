/** The figures of a simulation as a table: a row for each policy, the one under test first and marked. Imports the table. */
import { factor, percent, possible, roundedDuration, type SimulatedPolicy } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from './display.js'
import type { Style } from './style.js'
import { alignTable, type Column, spaceBeside } from './table.js'

/** So that the table fits 80 columns; the second where it would not. */
const GAPS = ['  ', ' '] as const
/** Less of a title than this says nothing. */
const MIN_TITLE = 20
const MAX_NAME = 24

interface StormColumn extends Column {
  /** A title is two lines. */
  readonly title2: string
  readonly cell: (policy: SimulatedPolicy) => string
}

const COLUMNS: readonly StormColumn[] = [
  { title: '', title2: 'policy', cell: ({ name }) => plainText(name, MAX_NAME) },
  figure('load', 'worst', ({ amplification }) => `${factor(amplification.worst)}×`),
  figure('load', 'mean', ({ amplification }) => `${factor(amplification.mean)}×`),
  figure('back', 'after', ({ recoveryMs }) => (recoveryMs === null ? 'NEVER' : recovery(recoveryMs))),
  figure('success', 'in all', ({ success }) => percent(success.total)),
  figure('success', 'after', ({ success }) => percent(success.after)),
  figure('goodput', 'in it', ({ goodput }) => (goodput === null ? '–' : possible(goodput))),
  figure('wasted', '/ call', ({ wasted }) => factor(wasted)),
  figure('p99', '', ({ latencyMs }) => roundedDuration(latencyMs.p99)),
]

function figure(title: string, title2: string, cell: (policy: SimulatedPolicy) => string): StormColumn {
  return { title, title2, align: 'right', cell }
}

/** Whole seconds are what the simulator counts. */
function recovery(ms: number): string {
  return ms === 0 ? '0s' : roundedDuration(ms)
}

export function stormTable(policies: readonly SimulatedPolicy[], display: Display): string[] {
  const { style } = display
  const columns = [...COLUMNS]
  const rows = policies.map((policy) => columns.map(({ cell }) => cell(policy)))
  const spaceWith = (gap: string): number =>
    spaceBeside(columns, [columns.map(({ title2 }) => title2), ...rows], display.screen, gap)
  const gap = spaceWith(GAPS[0]) < -GAPS[0].length ? GAPS[1] : GAPS[0]
  const space = spaceWith(gap)
  if (space >= MIN_TITLE) columns.push({ title: '', title2: '', cell: ({ title }) => plainText(title, space) })
  const titled = columns.map((column) => ({ ...column, title: style.dim(column.title) }))
  const second = columns.map(({ title2 }) => style.dim(title2))
  const body = policies.map((policy) =>
    columns.map(({ cell }, index) => emphasised(cell(policy), policy, index, style)),
  )
  const [head, head2, ...lines] = alignTable(titled, [second, ...body], gap)
  return [
    head ?? '',
    head2 ?? '',
    ...lines.map((line, index) => marked(line, policies[index]?.isSubject === true, display)),
  ]
}

function emphasised(text: string, { isSubject, recoveryMs }: SimulatedPolicy, index: number, style: Style): string {
  if (COLUMNS[index]?.title === 'back' && recoveryMs === null) return style.red(style.bold(text))
  return isSubject ? style.bold(text) : text
}

/** In the indent of the table. */
function marked(line: string, isSubject: boolean, { blocks, style }: Display): string {
  return isSubject ? style.bold(blocks ? '▸ ' : '> ') + line.slice(2) : line
}
