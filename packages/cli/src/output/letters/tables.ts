/** Dead letters as tables and pages. Imports tables, words and types. */
import {
  failureLines,
  failureText,
  type LetterDetail,
  type LetterGroup,
  type LetterStats,
  type LetterView,
  percent,
  plural,
  roundedDuration,
  stopWords,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable, fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import { flatText } from '../flat-text.js'
import type { Display } from '../display.js'
import { relativeTime } from '../relative-time.js'

const MAX_DATA = 2000

export function lettersTable(letters: readonly LetterView[], nowMs: number, display: Display): string[] {
  const ids: FittedColumn<LetterView>[] = [
    { title: 'letter', cell: ({ letter }) => plainText(letter), paint: () => display.style.bold },
  ]
  const columns: FittedColumn<LetterView>[] = [
    { title: 'key', cell: ({ key }) => plainText(key ?? ''), least: 8, expendable: 3 },
    { title: 'state', cell: ({ state, closed }) => (closed === null ? state : closed.by) },
    { title: 'attempts', align: 'right', cell: ({ attempts }) => String(attempts ?? ''), expendable: 2 },
    { title: 'failed', align: 'right', cell: ({ failedAtMs }) => relativeTime(failedAtMs, nowMs), expendable: 1 },
    { title: 'retry', cell: ({ retry }) => (retry.makesSense ? 'yes' : 'no'), expendable: 4 },
    { title: 'error', cell: ({ failure, stopReason }) => failureText(failure) || stopReason, least: 12 },
  ]
  return fitTableWithIds(ids, columns, letters, display)
}

export function groupsTable(groups: readonly LetterGroup[], nowMs: number, display: Display): string[] {
  return fitTable<LetterGroup>(
    [
      { title: 'letters', align: 'right', cell: ({ count }) => String(count), paint: () => display.style.bold },
      { title: 'retryable', align: 'right', cell: ({ retryableShare }) => percent(retryableShare) },
      { title: 'first', align: 'right', cell: (one) => relativeTime(one.firstFailedAtMs, nowMs), expendable: 2 },
      { title: 'last', align: 'right', cell: (one) => relativeTime(one.lastFailedAtMs, nowMs), expendable: 1 },
      { title: 'group', cell: ({ signature }) => plainText(signature), least: 20 },
    ],
    groups,
    display,
  )
}

export function statsLines(stats: LetterStats, nowMs: number): string[] {
  const { open, closed, undecided, retryable, groups, byKind, closedBy, oldestFailedAtMs } = stats
  const kinds = Object.entries(byKind).filter(([, count]) => count > 0)
  const ends = Object.entries(closedBy)
  const list = (pairs: readonly (readonly [string, number])[]): string =>
    pairs.length === 0 ? '' : ` (${pairs.map(([word, count]) => `${word} ${count}`).join(', ')})`
  return [
    `open       ${open}${list(kinds)}`,
    `retryable  ${retryable}`,
    `undecided  ${undecided}`,
    `groups     ${groups}`,
    `closed     ${closed}${list(ends)}`,
    ...(oldestFailedAtMs === null ? [] : [`oldest     ${relativeTime(oldestFailedAtMs, nowMs)}`]),
  ]
}

/** One letter, with its history by generation. */
export function letterPage(detail: LetterDetail, nowMs: number, display: Display): string[] {
  const { letter, key, kind, state, retry, failure, stopReason, signature, data, generations, changes } = detail
  const { bold, dim } = display.style
  const head = `${bold(plainText(letter))}  ${kind.replaceAll('_', ' ')}, ${state}, failed ${relativeTime(detail.failedAtMs, nowMs)}`
  const text = data === null ? '' : plainText(JSON.stringify(data), MAX_DATA)
  const why = `${retry.makesSense ? 'makes sense' : 'makes no sense yet'}: ${retry.why}`
  return [
    head,
    ...(key === null ? [] : [`  key          ${plainText(key)}`]),
    ...(text === '' ? [] : [`  data         ${text}`]),
    ...(failure === null
      ? []
      : failureLines(failure).map((line, index) => `${index === 0 ? '  error        ' : '               '}${line}`)),
    `  stopped      ${stopWords({ stopReason, failure })}`,
    `  group        ${plainText(signature)}`,
    `  retry        ${why}`,
    ...(detail.correlationId === null ? [] : [`  correlation  ${detail.correlationId}`]),
    ...generations.flatMap((one) => generationLines(one, dim)),
    ...changes.map(
      (one) => `  ${one.type.replaceAll('_', ' ')} ${relativeTime(one.changedAtMs, nowMs)}: ${flatText(one.detail)}`,
    ),
    ...(detail.compactedAttempts > 0
      ? [`  ${plural(detail.compactedAttempts, 'attempt')} removed for the length of the history`]
      : []),
  ]
}

function generationLines(
  { generation, stopReason, closedBy, attempts }: LetterDetail['generations'][number],
  dim: (text: string) => string,
): string[] {
  const end = [stopReason ?? '', closedBy === null ? '' : `closed: ${closedBy}`].filter(Boolean).join(', ')
  return [
    `  generation ${generation}${end === '' ? '' : `: ${end}`}`,
    ...attempts.map(({ attempt, execution, outcome, delayBeforeMs, startedAtMs, endedAtMs, failure, log }) => {
      const again = execution > 1 ? `.${execution}` : ''
      const took = roundedDuration(Math.max(0, endedAtMs - startedAtMs))
      const why = failureText(failure)
      const ran = outcome === 'denied' ? '' : `ran ${took}, `
      const words = `waited ${roundedDuration(delayBeforeMs)}, ${ran}${outcome}`
      return `    ${attempt}${again}  ${words}${why === '' ? '' : `: ${why}`}${log === null ? '' : dim(`  ${log}`)}`
    }),
  ]
}
