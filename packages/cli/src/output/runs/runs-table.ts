/** `reprise ps`: runs, a line each. Imports tables, words and types. */
import type { RunView } from '@reprise/workflow'
import { isShownTime, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { agentNames } from '../agent-names.js'
import { fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { relativeTime } from '../relative-time.js'
import { runLabel, runPaint } from '../state-words.js'
import { resumeLines } from './last-lines.js'

/** A narrower window has no space for more than the beginning of a reason. */
const NARROW = 70
const UNFINISHED = ['pending', 'running', 'retrying', 'parked', 'interrupted', 'undecided'] as const

export function runsTable(
  runs: readonly RunView[],
  nowMs: number,
  display: Display,
  command: CommandWords = plainCommand,
): string[] {
  if (runs.length === 0) return ['There are no runs.']
  const { style } = display
  const id: FittedColumn<RunView> = { title: 'run', cell: (run) => plainText(run.id), paint: () => style.bold }
  const table = fitTableWithIds([id], runColumns(runs, nowMs, display), runs, display)
  const interrupted = runs.filter(({ state }) => state === 'interrupted')
  const [first] = interrupted
  if (first === undefined) return table
  return [...table, ...resumeLines(interrupted.length === 1 ? first : { ...first, id: 'RUN' }, display, command)]
}

/** The name of the workflow goes early: ids begin with it, unless they were given by hand. */
function runColumns(runs: readonly RunView[], nowMs: number, display: Display): FittedColumn<RunView>[] {
  return [
    {
      title: 'state',
      cell: (run) => runLabel(run.state, display),
      paint: (run) => runPaint(run.state, display),
      least: 13,
    },
    { title: 'workflow', cell: (run) => plainText(run.name), least: 8, expendable: 4 },
    { title: 'steps', align: 'right', cell: stepsText, expendable: 3 },
    ...(runs.some(({ items }) => items !== null)
      ? [{ title: 'items', align: 'right', cell: itemsText, expendable: 3 } as const]
      : []),
    { title: 'started', align: 'right', cell: (run) => relativeTime(run.startedAtMs, nowMs), expendable: 1 },
    { title: 'took', align: 'right', cell: ({ activeMs }) => roundedDuration(activeMs), expendable: 2 },
    ...timeColumn('waited', runs, ({ waitedMs }) => waitedMs),
    ...timeColumn('down', runs, ({ downMs }) => downMs),
    { title: 'resumes', align: 'right', cell: ({ resumes }) => (resumes === 0 ? '' : String(resumes)), expendable: 5 },
    { title: 'why', cell: whyText, least: display.screen < NARROW ? 20 : 36 },
  ]
}

/** What the time went into beside `took`, which is when steps ran; no column where there is nothing of it. */
function timeColumn(
  title: string,
  runs: readonly RunView[],
  timeOf: (run: RunView) => number,
): FittedColumn<RunView>[] {
  if (!runs.some((run) => isShownTime(timeOf(run)))) return []
  const cell = (run: RunView): string => (isShownTime(timeOf(run)) ? roundedDuration(timeOf(run)) : '')
  return [{ title, align: 'right', cell, expendable: 2 }]
}

/** `3/5`: ended, of all. */
function stepsText({ counts }: RunView): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const open = UNFINISHED.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return `${all - open}/${all}`
}

/** `990/1000`: ended, of all; `, 7 failed` where there are any. */
function itemsText({ items }: RunView): string {
  if (items === null) return ''
  const { total, pending, running, retrying, skipped, dead, undecided } = items
  const failed = skipped + dead + undecided
  return `${total - pending - running - retrying}/${total}${failed === 0 ? '' : `, ${failed} failed`}`
}

function whyText({ stopReason, failedStep, owner, state, agents }: RunView): string {
  if (state === 'running' && owner !== null) {
    const { pid, host } = owner
    return [plainText(`pid ${pid} on ${host}`), ...(agents.length > 0 ? [agentNames(agents, host)] : [])].join(', ')
  }
  const step = failedStep === null ? '' : `step ${plainText(failedStep)} `
  return stopReason === null ? step.trimEnd() : `${step}(${stopReason})`
}
