/** Durable tasks as a table and as pages. Imports tables, words and types. */
import {
  failureLines,
  failureText,
  roundedDuration,
  stopWords,
  type TaskDetail,
  type TaskView,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import { flatText } from '../flat-text.js'
import type { Display } from '../display.js'
import { countdown, relativeTime } from '../relative-time.js'

const MAX_DATA = 2000

export function tasksTable(tasks: readonly TaskView[], nowMs: number, display: Display): string[] {
  const ids: FittedColumn<TaskView>[] = [
    { title: 'task', cell: ({ task }) => plainText(task), paint: () => display.style.bold },
  ]
  const columns: FittedColumn<TaskView>[] = [
    { title: 'state', cell: ({ state }) => state, paint: ({ state }) => paintOf(state, display) },
    { title: 'attempts', align: 'right', cell: (one) => `${one.attempts}/${one.attemptsAllowed}` },
    { title: 'next in', align: 'right', cell: (one) => nextIn(one, nowMs), expendable: 3 },
    { title: 'changed', align: 'right', cell: ({ changedAtMs }) => relativeTime(changedAtMs, nowMs), expendable: 1 },
    { title: 'why', cell: whyText, least: 12, expendable: 2 },
  ]
  return fitTableWithIds(ids, columns, tasks, display)
}

/** One task, with its history by generation. */
export function taskPageLines(detail: TaskDetail, nowMs: number, display: Display): string[] {
  const { task, state, generation, attempts, attemptsAllowed, input, result, failure, stopReason, owner } = detail
  const { bold } = display.style
  const data = (title: string, value: unknown): string => `  ${title} ${plainText(JSON.stringify(value), MAX_DATA)}`
  const next = nextIn(detail, nowMs)
  return [
    `${bold(plainText(task))}  ${paintOf(state, display)(state)}, ${relativeTime(detail.changedAtMs, nowMs)}`,
    `  attempts     ${attempts} of ${attemptsAllowed}${generation > 1 ? `, generation ${generation}` : ''}`,
    ...(next === '' ? [] : [`  next in      ${next}`]),
    ...(owner === null ? [] : [`  process      ${owner.pid} on ${plainText(owner.host)}`]),
    data('input       ', input),
    ...(state === 'succeeded' ? [data('result      ', result)] : []),
    ...(failure === null
      ? []
      : failureLines(failure).map((line, index) => `${index === 0 ? '  error        ' : '               '}${line}`)),
    ...(stopReason === null ? [] : [`  stopped      ${stopWords({ stopReason, failure })}`]),
    `  correlation  ${detail.correlationId}`,
    ...historyLines(detail),
    ...detail.changes.map(
      (one) => `  ${one.type.replaceAll('_', ' ')} ${relativeTime(one.changedAtMs, nowMs)}: ${flatText(one.detail)}`,
    ),
  ]
}

function historyLines({ history }: TaskDetail): string[] {
  return history.flatMap((row, index) => {
    const { generation, attempt, execution, outcome, delayBeforeMs, startedAtMs, endedAtMs, failure } = row
    const again = execution > 1 ? `.${execution}` : ''
    const ran = outcome === 'denied' ? '' : `ran ${roundedDuration(Math.max(0, endedAtMs - startedAtMs))}, `
    const why = failureText(failure)
    const line = `    ${attempt}${again}  waited ${roundedDuration(delayBeforeMs)}, ${ran}${outcome}${why === '' ? '' : `: ${why}`}`
    return history[index - 1]?.generation === generation ? [line] : [`  generation ${generation}`, line]
  })
}

function nextIn({ nextAttemptAtMs, state }: TaskView, nowMs: number): string {
  if (state === 'parked') return 'queued'
  return nextAttemptAtMs === null ? '' : countdown(nextAttemptAtMs, nowMs)
}

function whyText({ failure, stopReason, owner, state }: TaskView): string {
  if (state === 'running' && owner !== null) return plainText(`pid ${owner.pid} on ${owner.host}`)
  return state === 'succeeded' ? '' : failureText(failure) || (stopReason ?? '')
}

function paintOf(state: TaskView['state'], { style }: Pick<Display, 'style'>): (text: string) => string {
  if (state === 'failed' || state === 'undecided') return style.red
  if (state === 'succeeded') return style.green
  return state === 'running' ? style.cyan : style.dim
}
