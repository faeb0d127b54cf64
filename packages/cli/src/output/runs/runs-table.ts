/** `reprise ps`: runs, a line each. Imports tables, words and types. */
import type { RunView } from '@reprise/workflow'
import { plainText } from 'reprise/observe'
import { roundedDuration } from '../duration.js'
import { type FittedColumn, fitTableWithIds } from '../fitted-table.js'
import type { Look } from '../look.js'
import { relativeTime } from '../relative-time.js'
import { runLabel, runPaint } from '../state-words.js'

/** A narrower window has no space for more than the beginning of a reason. */
const NARROW = 70
const UNFINISHED = ['pending', 'running', 'retrying', 'parked', 'undecided'] as const

export function runsTable(runs: readonly RunView[], nowMs: number, look: Look): string[] {
  if (runs.length === 0) return ['There are no runs.']
  const { style } = look
  const id: FittedColumn<RunView> = { title: 'run', cell: (run) => plainText(run.id), paint: () => style.bold }
  return fitTableWithIds([id], runColumns(nowMs, look), runs, look)
}

/** The name of the workflow goes early: ids begin with it, unless they were given by hand. */
function runColumns(nowMs: number, look: Look): FittedColumn<RunView>[] {
  return [
    { title: 'state', cell: (run) => runLabel(run.state, look), paint: (run) => runPaint(run.state, look), least: 13 },
    { title: 'workflow', cell: (run) => plainText(run.name), least: 8, expendable: 4 },
    { title: 'steps', align: 'right', cell: stepsText, expendable: 3 },
    { title: 'started', align: 'right', cell: (run) => relativeTime(run.startedAtMs, nowMs), expendable: 1 },
    { title: 'took', align: 'right', cell: ({ activeMs }) => roundedDuration(activeMs), expendable: 2 },
    { title: 'resumes', align: 'right', cell: ({ resumes }) => (resumes === 0 ? '' : String(resumes)), expendable: 5 },
    { title: 'why', cell: whyText, least: look.screen < NARROW ? 20 : 36 },
  ]
}

/** `3/5`: ended, of all. */
function stepsText({ counts }: RunView): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const open = UNFINISHED.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return `${all - open}/${all}`
}

function whyText({ stopReason, failedStep, owner, state }: RunView): string {
  if (state === 'running' && owner !== null) return plainText(`pid ${owner.pid} on ${owner.host}`)
  const step = failedStep === null ? '' : `step ${plainText(failedStep)} `
  return stopReason === null ? step.trimEnd() : `${step}(${stopReason})`
}
