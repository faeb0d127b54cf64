/** Tables of what was measured, for the terminal and RESULTS.md. Imports what a workload is. */
import type { Rates, Workload } from './rates.js'

/** A figure, and the most it should be. */
export interface Line {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly most?: { readonly goal: number; readonly stretch?: number }
}

export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const [whole = '', rest] = value.toFixed(digits).split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ' ')
  return rest === undefined || Number(rest) === 0 ? grouped : `${grouped}.${rest}`
}

export function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  const [head, ...rest] = lines.map((line) => `| ${line.map(padded).join(' | ')} |`)
  const rule = `|${widths.map((width, column) => `${'-'.repeat(width + 1)}${column === 0 ? '-' : ':'}`).join('|')}|`
  return [head, rule, ...rest].join('\n')
}

export function ratesTable(all: readonly { readonly workload: Workload; readonly rates: Rates }[]): string {
  const head = [
    'per second',
    'library',
    'floor',
    'ratio',
    'goal',
    'stretch',
    'CPU µs each',
    'of the floor',
    'CPU ratio',
  ]
  const lines = all.map(({ workload, rates }) => {
    const least = (limit: number): string => `≥ ${limit} ${rates.ratio >= limit ? '✓' : '✗'}`
    const cpu = [
      number(rates.libraryCpuUs),
      number(rates.floorCpuUs),
      `${number(rates.floorCpuUs / rates.libraryCpuUs)} ×`,
    ]
    const { title, goal, stretch } = workload
    return [
      title,
      number(rates.libraryRate),
      number(rates.floorRate),
      `${number(rates.ratio)} ×`,
      least(goal),
      least(stretch),
      ...cpu,
    ]
  })
  return table([head, ...lines])
}

export function linesTable(lines: readonly Line[]): string {
  const limit = (value: number, most: number | undefined): string =>
    most === undefined ? '' : `≤ ${most} ${value <= most ? '✓' : '✗'}`
  const cells = lines.map(({ what, value, unit, most }) => [
    what,
    `${number(value)} ${unit}`,
    limit(value, most?.goal),
    limit(value, most?.stretch),
  ])
  return table([['measure', 'value', 'goal', 'stretch'], ...cells])
}
