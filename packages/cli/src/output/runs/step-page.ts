/** `reprise show RUN STEP`: every attempt of a step, across generations and resumes. Imports tables, words and types. */
import {
  type AttemptView,
  failureText,
  roundedDuration,
  type RunDetail,
  type StepView,
  stopWords,
  waitedText,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { pathFromHere } from '../path-from-here.js'
import { countdown, relativeTime } from '../relative-time.js'
import { stepLabel, stepPaint } from '../state-words.js'
import { titleLines, wrapText } from '../wrap.js'
import { errorLines, resumeLines } from './last-lines.js'

export function stepPage(
  run: RunDetail,
  step: StepView,
  nowMs: number,
  display: Display,
  command: CommandWords = plainCommand,
): string[] {
  const { style, width } = display
  const kind = step.kind === 'item' ? 'item' : `${step.kind} step`
  const about = style.dim(`${plainText(kind)} of run ${plainText(run.id)}`)
  const rows = withMarks(step.history, run.resumedAtMs, nowMs)
  const table = rows.length === 0 ? [`  ${withoutAttempts(step)}`] : fitTable(columns(nowMs, display), rows, display)
  const { log } = step
  return [
    ...titleLines(style.bold(plainText(step.name)), about, display),
    ...facts(step, nowMs, display).flatMap((text) => wrapText('  ', text, width)),
    '',
    ...table,
    ...lastError(step, table, display),
    ...(log === null || display.verbose
      ? []
      : ['', ...wrapText('  ', `log: ${plainText(pathFromHere(log), 1000)}`, display.screen)]),
    ...resumeLines(run, display, command),
  ]
}

function withoutAttempts({ state, attempts }: StepView): string {
  if (state === 'interrupted') return `Attempt ${Math.max(1, attempts)} was interrupted before it ended.`
  return 'No attempt has ended.'
}

function lastError({ history }: StepView, table: readonly string[], display: Display): string[] {
  return errorLines('last error', history.findLast(({ failure }) => failure !== null)?.failure ?? null, table, display)
}

function facts(step: StepView, nowMs: number, display: Display): string[] {
  const { state, stopReason, attempts, attemptsAllowed, waitedMs, retryBudgetMs, generation, nextAttemptAtMs } = step
  const label = stepPaint(state, display)(stepLabel(state, display))
  const counts = [
    `attempt ${attempts}/${attemptsAllowed}`,
    waitedMs === 0 ? '' : `waited ${waitedText(waitedMs, retryBudgetMs)}`,
    generation > 1 ? `generation ${generation}: its retries were reset` : '',
    nextAttemptAtMs === null || state === 'interrupted' ? '' : `next in ${countdown(nextAttemptAtMs, nowMs)}`,
  ]
  return [
    // `cancelled` says it already.
    stopReason === null || state === 'cancelled' ? label : `${label}: ${stopWords(step)}`,
    counts.filter((text) => text !== '').join(', '),
    ...(step.id === step.name ? [] : [`id ${plainText(step.id)}`]),
  ]
}

/** Between the attempts, what happened to the step as a whole. */
function withMarks(
  history: readonly AttemptView[],
  resumedAtMs: readonly number[],
  nowMs: number,
): (AttemptView | string)[] {
  return history.flatMap((attempt, index) => {
    const before = history[index - 1]
    if (before === undefined) return [attempt]
    const isReset = attempt.generation !== before.generation
    const resumes = resumedAtMs.filter((timeMs) => timeMs > before.startedAtMs && timeMs <= attempt.startedAtMs)
    return [
      ...resumes.map((timeMs) => `-- resumed ${relativeTime(timeMs, nowMs)}`),
      ...(isReset ? [`-- generation ${attempt.generation}: a fresh set of attempts`] : []),
      attempt,
    ]
  })
}

function columns(nowMs: number, display: Display): FittedColumn<AttemptView>[] {
  const { style } = display
  const isGood = ({ outcome }: AttemptView): boolean => outcome === 'success'
  const paint = (attempt: AttemptView): ((text: string) => string) =>
    isGood(attempt) ? style.green : attempt.outcome === 'interrupted' ? style.yellow : style.red
  return [
    { title: 'attempt', align: 'right', cell: attemptText, paint: () => style.bold },
    { title: 'started', align: 'right', cell: (attempt) => relativeTime(attempt.startedAtMs, nowMs), expendable: 2 },
    { title: 'wait before', align: 'right', cell: delay, expendable: 1 },
    { title: 'took', align: 'right', cell: took },
    { title: 'outcome', cell: ({ outcome }) => plainText(outcome), paint },
    { title: 'failure', cell: ({ failure }) => failureText(failure), least: 12, expendable: 3 },
    ...(display.verbose
      ? [
          {
            title: 'log',
            cell: ({ log }: AttemptView) => plainText(log === null ? '' : pathFromHere(log), 1000),
            expendable: 4,
          },
        ]
      : []),
  ]
}

/** Of one that was interrupted it is not known: its end is when that was found out. A denied one did not run. */
function took({ startedAtMs, endedAtMs, outcome }: AttemptView): string {
  return outcome === 'interrupted' || outcome === 'denied' ? '-' : roundedDuration(endedAtMs - startedAtMs)
}

/** `2`, and `2 (start 2)` where an earlier start was interrupted: the number is the same. */
function attemptText({ attempt, execution }: AttemptView): string {
  return execution === 1 ? String(attempt) : `${attempt} (start ${execution})`
}

function delay({ delayBeforeMs, attempt }: AttemptView): string {
  return delayBeforeMs === 0 && attempt === 1 ? '-' : roundedDuration(delayBeforeMs)
}
