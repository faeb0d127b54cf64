/** `reprise show RUN`: a run with its steps, and on a terminal when each of them ran. Imports tables, words and types. */
import {
  failureReason,
  failureText,
  type MapView,
  plural,
  roundedDuration,
  type RunDetail,
  type StepView,
  timeWords,
  waitedText,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable, type FittedColumn } from '../fitted-table.js'
import { flatText } from '../flat-text.js'
import type { Display } from '../display.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { coarseDuration, countdown, relativeTime } from '../relative-time.js'
import { countWords, runLabel, runPaint, stepLabel, stepPaint } from '../state-words.js'
import { cutText } from '../width.js'
import { titleLines, wrapCommand, wrapText } from '../wrap.js'
import { errorLines, resumeLines } from './last-lines.js'
import { mapFacts, mapNextLines } from './map-facts.js'
import { runAxis } from './run-axis.js'
import { drawStep, paintStep } from './waterfall.js'

/** A narrower window has no space for a picture. */
const MIN_SCREEN = 70
const MAX_BAR = 40

/** `unlisted`: steps of the run that are not among its `steps` here. */
export function runPage(
  run: RunDetail,
  nowMs: number,
  display: Display,
  command: CommandWords = plainCommand,
  unlisted = 0,
): string[] {
  const { style } = display
  const title = titleLines(style.bold(plainText(run.name)), style.dim(`run ${plainText(run.id)}`), display)
  const none = unlisted === 0 ? ['  This run has no steps.'] : []
  const table = run.steps.length === 0 ? none : fitTable(columns(run, nowMs, display), run.steps, display)
  return [
    ...title,
    ...factLines(run, nowMs, display),
    '',
    ...table,
    ...unlistedLines(run, unlisted, display, command),
    ...run.steps.flatMap((step) => (step.map ? ['', ...mapFacts(step, display)] : [])),
    ...runError(run, table, display),
    ...outputLines(run, display),
    ...mapNextLines({ id: run.id, isRunning: run.state === 'running' }, run.steps, display, command),
    ...resumeLines(run, display, command),
  ]
}

function unlistedLines({ id, steps }: RunDetail, unlisted: number, display: Display, command: CommandWords): string[] {
  if (unlisted === 0) return []
  const { style, screen } = display
  const text = `${plural(unlisted, steps.length === 0 ? 'step' : 'more step')} not listed`
  return [
    ...wrapText('  ', text, screen),
    ...wrapCommand(`  ${style.cyan('all steps:')} `, command(['show', id, '--all']), screen),
  ]
}

function runError({ steps, failedStep }: RunDetail, table: readonly string[], display: Display): string[] {
  const failed = steps.find(({ id }) => id === failedStep)
  return failed === undefined
    ? []
    : errorLines(`last error of ${plainText(failed.name)}`, failed.failure, table, display)
}

/** A long value is cut: `--json` has all of it. */
function outputLines({ outputs, outputsError }: RunDetail, display: Display): string[] {
  if (outputsError !== null) return ['', ...wrapText('  ', `no outputs: ${plainText(outputsError)}`, display.screen)]
  const entries = Object.entries(outputs ?? {})
  if (entries.length === 0) return []
  const rows = entries.map(([name, value]) => `  ${plainText(name)} = ${flatText(value)}`)
  return ['', '  outputs', ...rows.map((row) => display.style.dim(cutText(row, display.screen)))]
}

function factLines(run: RunDetail, nowMs: number, display: Display): string[] {
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
  const head = `${runPaint(state, display)(runLabel(state, display))}${why === '' ? '' : `: ${why}`}`
  return [
    ...wrapText('  ', head, display.screen),
    ...wrapText('  ', countWords(run.counts, display), display.screen),
    ...facts.filter((text) => text !== '').flatMap((text) => wrapText('  ', text, display.width)),
  ]
}

function stepCell({ name, part }: StepView): string {
  return part === undefined ? plainText(name) : `${plainText(name)} (${part})`
}

function columns(run: RunDetail, nowMs: number, display: Display): FittedColumn<StepView>[] {
  const { style } = display
  const bar: FittedColumn<StepView>[] = []
  if (display.bars && display.screen >= MIN_SCREEN) {
    const axis = runAxis(run, Math.min(MAX_BAR, display.screen >> 2))
    const cell = (step: StepView): string => drawStep(step, axis, nowMs, display)
    bar.push({ title: '', cell, paint: () => (text) => paintStep(text, display), expendable: 2 })
  }
  return [
    { title: 'step', cell: stepCell, paint: () => style.bold, least: 10 },
    { title: 'state', cell: (step) => stepLabel(step.state, display), paint: (step) => stepPaint(step.state, display) },
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
