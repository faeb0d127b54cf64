/**
 * A job in one picture: a row for each workflow, a column for each datacenter, budgets, and what it waits for. Never higher
 * or wider than the window: then workflows that need no look, and the last datacenters, are counted instead of shown.
 * Imports cells, words and widths.
 */
import type { JobStatus } from '@reprise/jobs'
import { plural } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Window } from '../live/frame.js'
import type { Display } from '../display.js'
import { elapsed } from '../relative-time.js'
import { cutText, padText, textWidth } from '../width.js'
import { wrapText } from '../wrap.js'
import { urgencyOf, workflowCell, workflowPaint, type WorkflowStatus } from './workflow-cells.js'

type Datacenter = JobStatus['datacenters'][number]

const GAP = '  '
const MOST_NAME = 28
/** Names of workflows give way to those of datacenters, down to this. */
const LEAST_NAME = 12
const LEAST_CELL = 4
/** Words are shown where a column has room for them. */
const WORD_CELL = 13

export function jobMatrix(status: JobStatus, nowMs: number, { columns, rows }: Window, display: Display): string[] {
  const head = [titleLine(status, nowMs, columns, display)]
  const foot = footLines(status, columns, display)
  const names = workflowNames(status)
  const room = Math.max(1, rows - head.length - foot.length - 2)
  const shown = names.length <= room ? names : urgentFirst(status, names).slice(0, room - 1)
  const table = tableLines(status, shown, nowMs, columns, display)
  const rest = names.length - shown.length
  const hidden = rest === 0 ? [] : [display.style.dim(`  … ${plural(rest, 'workflow')} more`)]
  return [...head, ...table, ...hidden, ...foot]
}

function workflowNames({ datacenters }: JobStatus): readonly string[] {
  return [...new Set(datacenters.flatMap(({ workflows }) => workflows.map(({ name }) => name)))]
}

/** The window decides how many are shown: those that need a look come first. */
function urgentFirst({ datacenters }: JobStatus, names: readonly string[]): readonly string[] {
  const states = new Map<string, WorkflowStatus['state'][]>(names.map((name) => [name, []]))
  for (const { workflows } of datacenters) for (const { name, state } of workflows) states.get(name)?.push(state)
  const urgency = new Map([...states].map(([name, found]) => [name, urgencyOf(found)]))
  return names.toSorted((a, b) => (urgency.get(a) ?? 0) - (urgency.get(b) ?? 0))
}

function titleLine(
  { name, id, state, outcome, submittedAtMs, completedAtMs }: JobStatus,
  nowMs: number,
  columns: number,
  { style }: Display,
): string {
  const took = elapsed((completedAtMs ?? nowMs) - submittedAtMs)
  const how = outcome ?? state
  const text = cutText(plainText(`${name}  job ${id}  ${how}, ${took}`), columns)
  return style.bold(text)
}

function tableLines(
  { datacenters }: JobStatus,
  names: readonly string[],
  nowMs: number,
  columns: number,
  display: Display,
): string[] {
  const longest = Math.max(0, ...datacenters.map(({ name }) => textWidth(plainText(name))))
  const heads = datacenters.length * (GAP.length + longest)
  const most = Math.min(MOST_NAME, Math.max(LEAST_NAME, columns - 2 - heads))
  const nameCells = Math.min(most, Math.max(8, ...names.map((name) => textWidth(plainText(name)))))
  const space = columns - 2 - nameCells
  const fitting = Math.max(1, Math.floor(space / (LEAST_CELL + GAP.length)))
  const isCut = datacenters.length > fitting
  const shown = isCut ? datacenters.slice(0, Math.max(1, fitting - 1)) : datacenters
  const width = Math.min(24, Math.floor(space / (shown.length + (isCut ? 1 : 0))) - GAP.length)
  const more = isCut ? `${GAP}+${datacenters.length - shown.length}` : ''
  const head = shown.map((one) => GAP + padText(cutText(datacenterWords(one, width), width), width)).join('')
  const byName = shown.map(({ workflows }) => new Map(workflows.map((one) => [one.name, one])))
  const rows = names.map((name) => {
    const cells = byName.map((found) => {
      const one = found.get(name)
      if (one === undefined) return GAP + ' '.repeat(width)
      const text = padText(cutText(workflowCell(one, nowMs, width < WORD_CELL, display), width), width)
      return GAP + workflowPaint(one.state, display)(text)
    })
    return `  ${padText(cutText(plainText(name), nameCells), nameCells)}${cells.join('')}`.trimEnd()
  })
  return [`  ${' '.repeat(nameCells)}${display.style.bold(head)}${more}`.trimEnd(), ...rows]
}

/** `eu 3/4 no worker`; the name alone where there is no room for more. */
function datacenterWords({ name, counts, workers, state }: Datacenter, cells: number): string {
  const { total, succeeded, failed, skipped, cancelled } = counts
  const own = plainText(name)
  const ended = `${own} ${succeeded + failed + skipped + cancelled}/${total}`
  const isOpen = state === 'waiting' || state === 'running' || state === 'suspected'
  const full = isOpen && workers === 0 ? `${ended} no worker` : ended
  return [full, ended].find((words) => textWidth(words) <= cells) ?? own
}

function footLines(
  { budgets, waitsFor, isMinimumUnreachable }: JobStatus,
  columns: number,
  display: Display,
): string[] {
  const used = budgets.map(({ datacenter, used: count, total }) => {
    return `${datacenter === null ? 'retries' : plainText(datacenter)} ${count}/${total}`
  })
  const refunds = budgets.reduce((sum, one) => sum + one.refunds, 0)
  const budget = `${used.join(' · ')}${refunds === 0 ? '' : `, ${refunds} given back`}`
  const paint = isMinimumUnreachable ? display.style.yellow : display.style.dim
  const waiting = waitsFor === null ? [] : wrapText('  ', plainText(waitsFor), columns).slice(0, 3).map(paint)
  return [...wrapText('  ', budget, columns).slice(0, 2).map(display.style.dim), ...waiting]
}
