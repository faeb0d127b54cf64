/**
 * Explanations as a person reads them: headline, table, where it ends, hints. Imports the tables, styles and data.
 * Text from the file is made plain before it is shown.
 */
import { type Explanation, matcherWords, plural, roundedDuration, waitLimitMs } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { attemptTable, range } from './attempt-table.js'
import { fitTableWithIds, type FittedColumn } from './fitted-table.js'
import type { Display } from './display.js'
import { wrapText } from './wrap.js'

const MAX_TEXT = 2000
/** Less of a summary than this says nothing. */
const MIN_SUMMARY = 24
const MAX_STEP = 128

export function showExplanation(explanation: Explanation, title: string, display: Display): string {
  const { style, width } = display
  const say = (lead: string, text: string): string[] => wrapText(`  ${lead}`, plainText(text, MAX_TEXT), width)
  const summary = plainText(explanation.summary, MAX_TEXT)
  const lines = [...wrapText('', style.bold(plainText(title)), width), ...wrapText('  ', summary, width, / (?=· )/)]
  const { until, policy } = explanation
  if (policy.attempts > 1) {
    const polls = until === null ? '' : ` and, whatever \`retry_on\` says, while this is false: ${until}`
    lines.push(...say('', `retries ${matcherWords(policy)}${polls}`))
  }
  lines.push('', ...attemptTable(explanation.attempts, display), '')
  lines.push(...endings(explanation).flatMap((sentence) => say('', sentence)))
  const remarks = [
    ...explanation.notes.flatMap((note) => say(style.yellow('note: '), note)),
    ...explanation.hints.flatMap((hint) => say(style.yellow('hint: '), hint.message)),
  ]
  if (!display.quiet && remarks.length > 0) lines.push('', ...remarks)
  return `${lines.join('\n')}\n`
}

function endings(explanation: Explanation): string[] {
  const { stop, mostWaitedMs, longestMs, policy } = explanation
  const most = policy.jitter === 'none' ? '' : 'at most '
  const waits = mostWaitedMs === 0 ? 'It never waits' : `It waits ${most}${roundedDuration(mostWaitedMs)} in all`
  const end =
    longestMs === null ? '' : `, and has ended after ${roundedDuration(longestMs)} however slow its attempts are`
  const unless = mayWaitLonger(explanation) ? " A server's `Retry-After` may make waits longer." : ''
  return [stop.sentence, `${waits}${end}.${unless}`, ...startSentences(explanation)]
}

/** Of a map: what attempts of the step, attempts of the item and items come to. */
function startSentences({ role, starts }: Explanation): string[] {
  if (starts === null) return []
  const { itemAttempts, stepAttempts, perItem, items, total, maxRetries, batch } = starts
  const factors = `${plural(stepAttempts, 'attempt')} of the step × ${plural(itemAttempts, 'attempt')} of an item`
  const each = `It is started up to ${plural(perItem, 'time')} for one item${role === 'item' ? '' : ` (${factors})`}`
  const shared =
    maxRetries === null || itemAttempts === 1 ? '' : `, with ${plural(maxRetries, 'retry', 'retries')} for all`
  const all =
    total === null || items === null ? '' : `, up to ${plural(total, 'time')} for ${plural(items, 'item')}${shared}`
  const together =
    role === 'item' && batch > 1
      ? [
          `Up to ${batch} items share an attempt. A batch that fails runs once more as single items, which is no attempt.`,
        ]
      : []
  return [`${each}${all}.`, ...together]
}

/** A limit on the waits counts `Retry-After` as well; and a wait that is never begun cannot be longer. */
function mayWaitLonger({ stop, mostWaitedMs, policy }: Explanation): boolean {
  const everWaits = stop.latestAttempt > 1 || stop.reason === 'breaker_open'
  return everWaits && policy.attempts > 1 && mostWaitedMs < waitLimitMs(policy)
}

/** How often it is started at most, for all items of its map or for one. */
const STARTS: FittedColumn<Explanation> = {
  title: 'starts',
  align: 'right',
  cell: ({ starts, stop }) => {
    if (starts === null) return String(stop.attempt)
    return starts.total === null ? `${starts.perItem} per item` : String(starts.total)
  },
}

/** One line per step of a workflow. */
export function showOverview(explanations: readonly Explanation[], title: string, display: Display): string {
  const { style } = display
  const waits = ({ attempts }: Explanation): string => {
    const last = attempts.at(-1)
    return last === undefined ? '' : range(last.minWaitedMs, last.maxWaitedMs)
  }
  const step: FittedColumn<Explanation> = {
    title: 'step',
    cell: (one) => plainText(one.step ?? '', MAX_STEP),
    paint: () => style.bold,
  }
  const columns: FittedColumn<Explanation>[] = [
    { title: 'attempts', align: 'right', cell: ({ stop }) => String(stop.attempt) },
    { title: 'waits in all', align: 'right', cell: waits, expendable: 1 },
    ...(explanations.some(({ starts }) => starts !== null) ? [STARTS] : []),
    { title: 'stops by', cell: ({ stop }) => stop.reason },
    { title: 'hints', align: 'right', cell: ({ hints, notes }) => String(hints.length + notes.length), expendable: 2 },
    { title: 'policy', cell: ({ summary }) => plainText(summary, MAX_TEXT), least: MIN_SUMMARY, expendable: 3 },
  ]
  const heading = wrapText('', style.bold(plainText(title)), display.screen)
  return `${[...heading, '', ...fitTableWithIds([step], columns, explanations, display)].join('\n')}\n`
}
