/** `reprise show RUN`: a run with its steps, and on a terminal when each of them ran. Imports tables, words and types. */
import {
  failureReason,
  failureText,
  type MapView,
  roundedDuration,
  type RunDetail,
  type StepView,
  timeWords,
  waitedText,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable, type FittedColumn } from '../fitted-table.js'
import { flatText } from '../flat-text.js'
import type { Look } from '../look.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { coarseDuration, countdown, relativeTime } from '../relative-time.js'
import { countWords, runLabel, runPaint, stepLabel, stepPaint } from '../state-words.js'
import { cutText } from '../width.js'
import { titleLines, wrapText } from '../wrap.js'
import { errorLines, resumeLines } from './last-lines.js'
import { mapFacts, mapNextLines } from './map-facts.js'
import { runAxis } from './run-axis.js'
import { drawStep, paintStep } from './waterfall.js'

/** A narrower window has no space for a picture. */
const MIN_SCREEN = 70
const MAX_BAR = 40

export function runPage(run: RunDetail, nowMs: number, look: Look, command: CommandWords = plainCommand): string[] {
  const { style } = look
  const title = titleLines(style.bold(plainText(run.name)), style.dim(`run ${plainText(run.id)}`), look)
  const table =
    run.steps.length === 0 ? ['  This run has no steps.'] : fitTable(columns(run, nowMs, look), run.steps, look)
  return [
    ...title,
    ...factLines(run, nowMs, look),
    '',
    ...table,
    ...run.steps.flatMap((step) => (step.map ? ['', ...mapFacts(step, look)] : [])),
    ...runError(run, table, look),
    ...outputLines(run, look),
    ...mapNextLines({ id: run.id, isRunning: run.state === 'running' }, run.steps, look, command),
    ...resumeLines(run, look, command),
  ]
}

function runError({ steps, failedStep }: RunDetail, table: readonly string[], look: Look): string[] {
  const failed = steps.find(({ id }) => id === failedStep)
  return failed === undefined ? [] : errorLines(`last error of ${plainText(failed.name)}`, failed.failure, table, look)
}

/** A long value is cut: `--json` has all of it. */
function outputLines({ outputs, outputsError }: RunDetail, look: Look): string[] {
  if (outputsError !== null) return ['', ...wrapText('  ', `no outputs: ${plainText(outputsError)}`, look.screen)]
  const entries = Object.entries(outputs ?? {})
  if (entries.length === 0) return []
  const rows = entries.map(([name, value]) => `  ${plainText(name)} = ${flatText(value)}`)
  return ['', '  outputs', ...rows.map((row) => look.style.dim(cutText(row, look.screen)))]
}

function factLines(run: RunDetail, nowMs: number, look: Look): string[] {
  const { state, startedAtMs, endedAtMs, resumes, owner, file, params } = run
  const failed = run.steps.find(({ id }) => id === run.failedStep)
  const why = failureReason(run.failedStep, { ...failed, stopReason: run.stopReason })
  const times = [
    `took ${timeWords(run).join(', ')}`,
    `started ${relativeTime(startedAtMs, nowMs)}`,
    endedAtMs === null ? '' : `ended ${relativeTime(endedAtMs, nowMs)}`,
    resumes === 0 ? '' : `resumed ${resumes}×`,
  ]
  const facts = [
    times.filter((text) => text !== '').join(', '),
    owner === null
      ? ''
      : plainText(`executed by process ${owner.pid} on ${owner.host} for ${coarseDuration(nowMs - owner.takenAtMs)}`),
    file === null ? '' : `from ${plainText(file)}`,
    Object.keys(params).length === 0 ? '' : `with ${flatText(params)}`,
  ]
  const head = `${runPaint(state, look)(runLabel(state, look))}${why === '' ? '' : `: ${why}`}`
  return [
    ...wrapText('  ', head, look.screen),
    ...wrapText('  ', countWords(run.counts, look), look.screen),
    ...facts.filter((text) => text !== '').flatMap((text) => wrapText('  ', text, look.width)),
  ]
}

function stepCell({ name, part }: StepView): string {
  return part === undefined ? plainText(name) : `${plainText(name)} (${part})`
}

function columns(run: RunDetail, nowMs: number, look: Look): FittedColumn<StepView>[] {
  const { style } = look
  const bar: FittedColumn<StepView>[] = []
  if (look.bars && look.screen >= MIN_SCREEN) {
    const axis = runAxis(run, Math.min(MAX_BAR, look.screen >> 2))
    const cell = (step: StepView): string => drawStep(step, axis, nowMs, look)
    bar.push({ title: '', cell, paint: () => (text) => paintStep(text, look), expendable: 2 })
  }
  return [
    { title: 'step', cell: stepCell, paint: () => style.bold, least: 10 },
    { title: 'state', cell: (step) => stepLabel(step.state, look), paint: (step) => stepPaint(step.state, look) },
    { title: 'attempts', align: 'right', cell: attempts },
    { title: 'waited', align: 'right', cell: (step) => waitedText(step.waitedMs, step.retryBudgetMs), expendable: 4 },
    { title: 'took', align: 'right', cell: took, expendable: 3 },
    ...bar,
    { title: 'last error', cell: (step) => lastWords(step, nowMs), least: 12, expendable: 1 },
  ]
}

/** `3/5`; nothing of a step that was not begun. */
function attempts({ attempts: made, attemptsAllowed, state, map }: StepView): string {
  if (map) return ''
  return state === 'pending' || state === 'skipped' ? '' : `${made}/${attemptsAllowed}`
}

/** `29/30 items, 1 dead`. */
function itemsText({ counts }: MapView): string {
  const { total, pending, running, retrying, skipped, dead, undecided } = counts
  const bad = Object.entries({ dead, skipped, undecided }).filter(([, count]) => count > 0)
  const ended = `${total - pending - running - retrying}/${total} items`
  return [ended, ...bad.map(([word, count]) => `${count} ${word}`)].join(', ')
}

function took({ activeMs, state }: StepView): string {
  if (state === 'pending' || state === 'skipped') return ''
  // Of a process that was killed before its first heartbeat, it is not known how long it ran.
  return state === 'interrupted' && activeMs === 0 ? '-' : roundedDuration(activeMs)
}

function lastWords(step: StepView, nowMs: number): string {
  const { state, failure, nextAttemptAtMs, stopReason, history, map } = step
  if (map && failure === null) return itemsText(map)
  if (state === 'recovered') return ''
  const cause = failureText(failure ?? history.findLast((attempt) => attempt.failure !== null)?.failure ?? null)
  if (state === 'retrying' && nextAttemptAtMs !== null) return `next in ${countdown(nextAttemptAtMs, nowMs)}: ${cause}`
  return [stopReason === null ? '' : `(${stopReason})`, cause].filter((text) => text !== '').join(' ')
}
