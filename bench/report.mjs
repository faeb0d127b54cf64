/** Figures as tables, and the file that keeps them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fastestPeer, isFloor, isOurs } from './goals.mjs'

/** @typedef {import('./goals.mjs').Row} Row */
/** @typedef {import('./harness.mjs').Figures} Figures */
/** @typedef {{ id: string, row: Row, figures: Figures }} Result */

const YES_NO = new Set(['context', 'sameTurn', 'reason'])
const RESULTS = new URL('RESULTS.md', import.meta.url)

/** @param {string} column @param {number | undefined} value */
function shown(column, value) {
  if (value === undefined || value === null) return ''
  if (YES_NO.has(column)) return value === 1 ? 'yes' : 'no'
  if (column === 'timerMs' && value < 0) return 'never'
  return number(value)
}

/** Three digits that matter, thousands apart. @param {number} value */
function number(value) {
  if (!Number.isFinite(value)) return String(value)
  if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value)
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, digits === 0 ? ' ' : '')
}

/** @param {string[][]} lines */
function table(lines) {
  const widths = lines[0].map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)))
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(lines[0]), rule, ...lines.slice(1).map(line)].join('\n')
}

/** Floors, then peers, then ours; each by the first column that it has. @param {Row} row @param {Figures} figures */
function ordered(row, figures) {
  const rank = (/** @type {string} */ name) => (isFloor(name) ? 0 : isOurs(name) ? 2 : 1)
  const columns = Object.keys(row.columns)
  const first = (/** @type {string} */ name) => columns.findIndex((column) => figures[name][column] !== undefined)
  const value = (/** @type {string} */ name) => figures[name][columns[first(name)]] ?? Infinity
  return Object.keys(figures).sort((a, b) => rank(a) - rank(b) || first(a) - first(b) || value(a) - value(b))
}

/** Whether a goal is reached, in words. @param {import('./goals.mjs').Goal} goal @param {Figures} figures */
function verdict({ what, value: of, floor, goal, stretch, unit = '×' }, figures) {
  const value = of(figures)
  const least = floor?.(figures)
  if (value === undefined || Number.isNaN(value)) return `- ${what}: not measured`
  const limit = (/** @type {string} */ word, /** @type {number} */ most) =>
    `${word} ≤ ${most}${unit && ` ${unit}`} ${value <= most ? 'reached' : '**not reached**'}`
  const limits = [
    ...(least === undefined || Number.isNaN(least) ? [] : [`floor ${number(least)}${unit && ` ${unit}`}`]),
    ...(goal === Infinity ? [] : [limit('goal', goal)]),
    ...(stretch === undefined ? [] : [limit('stretch', stretch)]),
  ]
  return `- ${what}: **${number(value)}${unit && ` ${unit}`}** (${limits.join(', ')})`
}

/** @param {Result} result */
export function rowText({ row, figures }) {
  const columns = Object.keys(row.columns)
  const first = columns[0]
  const best = Object.keys(figures).filter(isOurs)
  const hasOthers = best.length < Object.keys(figures).length
  const mine = best.length > 0 && hasOthers && !YES_NO.has(first) ? figures[best[0]][first] : undefined
  const heading = ['', ...Object.values(row.columns), ...(mine === undefined ? [] : ['Reprise ÷ this'])]
  const lines = ordered(row, figures).map((name) => {
    const over = figures[name][first]
    const part = mine === undefined ? [] : [isOurs(name) || over === undefined ? '' : `${number(mine / over)} ×`]
    return [name, ...columns.map((column) => shown(column, figures[name][column])), ...part]
  })
  const peer = YES_NO.has(first) ? undefined : fastestPeer(figures, first)
  const note = peer
    ? `${row.note} ${row.unit === 'kB' || row.unit === 'B' ? 'Smallest' : 'Fastest'} peer: ${peer}.`
    : row.note
  const goals =
    best.length > 0 ? row.goals.map((goal) => verdict(goal, figures)) : ['- Reprise is not built: not measured']
  return [`### ${row.title}`, '', `${note} Floor: ${row.floor}`, '', table([heading, ...lines]), '', ...goals].join(
    '\n',
  )
}

/** The cells of a line for each goal. @param {Result[]} results @returns {string[][]} */
export function goalLines(results) {
  return results.flatMap(({ row, figures }) =>
    row.goals.flatMap((goal) => {
      const value = goal.value(figures)
      if (value === undefined || Number.isNaN(value)) return []
      const unit = goal.unit ?? '×'
      const limit = (/** @type {number | undefined} */ most) =>
        most === undefined || most === Infinity ? '' : `≤ ${most} ${value <= most ? '✓' : '✗'}`
      const least = goal.floor?.(figures)
      const floor = least === undefined || Number.isNaN(least) ? '' : `${number(least)} ${unit}`.trim()
      return [[row.title, goal.what, `${number(value)} ${unit}`.trim(), floor, limit(goal.goal), limit(goal.stretch)]]
    }),
  )
}

/** @param {string[][]} lines of `goalLines` */
export function summary(lines) {
  return lines.length === 0 ? '' : table([['measure', 'of', 'value', 'floor', 'goal', 'stretch'], ...lines])
}

/** What RESULTS.md says of one Node version. @param {string} section */
function parse(section) {
  const rows = new Map(
    section
      .split(/^### /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), `### ${text.trim()}`]),
  )
  const goals = (rows.get('Goals') ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    // Tables that were written before floors stood in them.
    .map((cells) => (cells.length === 5 ? cells.toSpliced(3, 0, '') : cells))
  rows.delete('Goals')
  return { rows, goals }
}

/**
 * Rewrites what was measured in the section of one Node version, and leaves its other rows and the other sections.
 * @param {string} major @param {string} facts @param {Result[]} results @param {readonly string[]} titles of all rows in order
 */
export function write(major, facts, results, titles) {
  const old = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : ''
  /** @type {Map<string, string>} */
  const sections = new Map()
  for (const part of old.split(/^(?=## Node \d+$)/m)) {
    const version = /^## Node (\d+)$/m.exec(part)?.[1]
    if (version) sections.set(version, part.trim())
  }
  const { rows, goals } = parse(sections.get(major) ?? '')
  for (const result of results) rows.set(result.row.title, rowText(result))
  const fresh = new Set(results.map(({ row }) => row.title))
  const lines = [...goals.filter(([title]) => !fresh.has(title)), ...goalLines(results)]
  const sorted = titles.flatMap((title) => lines.filter(([measure]) => measure === title))
  const texts = titles.flatMap((title) => rows.get(title) ?? [])
  const parts = [`## Node ${major}`, facts, `### Goals\n\n${summary(sorted)}`, ...texts]
  sections.set(major, parts.join('\n\n'))
  const head = '# Results\n\nWritten by `npm run bench -- --write`. How to read it: [README.md](README.md).'
  const ordered = [...sections.entries()].sort(([a], [b]) => Number(a) - Number(b)).map(([, part]) => part)
  writeFileSync(RESULTS, `${[head, ...ordered].join('\n\n')}\n`)
}
