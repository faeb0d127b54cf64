/**
 * Explanations as a person reads them: headline, table, where it ends, hints. Imports the tables, styles and data.
 * Text from the file is made plain before it is shown.
 */
import { plainText } from 'reprise/observe'
import type { Explanation } from '../explain/explanation.js'
import { waitLimitMs } from '../explain/facts.js'
import { matcherWords } from '../explain/summary.js'
import { attemptTable, range } from './attempt-table.js'
import { roundedDuration } from './duration.js'
import type { Look } from './look.js'
import { alignTable, type Column, spaceBeside } from './table.js'
import { wrapText } from './wrap.js'

const MAX_TEXT = 2000
/** Less of a summary than this says nothing. */
const MIN_SUMMARY = 24

export function showExplanation(explanation: Explanation, title: string, look: Look): string {
  const { style, width } = look
  const say = (lead: string, text: string): string[] => wrapText(`  ${lead}`, plainText(text, MAX_TEXT), width)
  const summary = plainText(explanation.summary, MAX_TEXT)
  const lines = [style.bold(plainText(title)), ...wrapText('  ', summary, width, / (?=· )/)]
  if (explanation.policy.attempts > 1) lines.push(...say('', `retries ${matcherWords(explanation.policy)}`))
  lines.push('', ...attemptTable(explanation.attempts, look), '')
  lines.push(...endings(explanation).flatMap((sentence) => say('', sentence)))
  const remarks = [
    ...explanation.notes.flatMap((note) => say(style.yellow('note: '), note)),
    ...explanation.hints.flatMap((hint) => say(style.yellow('hint: '), hint.message)),
  ]
  if (!look.quiet && remarks.length > 0) lines.push('', ...remarks)
  return `${lines.join('\n')}\n`
}

function endings(explanation: Explanation): string[] {
  const { stop, mostWaitedMs, longestMs, policy } = explanation
  const most = policy.jitter === 'none' ? '' : 'at most '
  const waits = mostWaitedMs === 0 ? 'It never waits' : `It waits ${most}${roundedDuration(mostWaitedMs)} in all`
  const end =
    longestMs === null ? '' : `, and has ended after ${roundedDuration(longestMs)} however slow its attempts are`
  const unless = mayWaitLonger(explanation) ? " A server's `Retry-After` may make waits longer." : ''
  return [stop.sentence, `${waits}${end}.${unless}`]
}

/** A limit on the waits counts `Retry-After` as well; and a wait that is never begun cannot be longer. */
function mayWaitLonger({ stop, mostWaitedMs, policy }: Explanation): boolean {
  const everWaits = stop.latestAttempt > 1 || stop.reason === 'breaker_open'
  return everWaits && policy.attempts > 1 && mostWaitedMs < waitLimitMs(policy)
}

/** One line per step of a workflow. */
export function showOverview(explanations: readonly Explanation[], title: string, look: Look): string {
  const { style } = look
  const columns: Column[] = [
    { title: 'step' },
    { title: 'attempts', align: 'right' },
    { title: 'waits in all', align: 'right' },
    { title: 'stops by' },
    { title: 'hints', align: 'right' },
  ]
  const rows = explanations.map(({ step, stop, attempts, hints, notes }) => {
    const last = attempts.at(-1)
    const waited = last === undefined ? '' : range(last.minWaitedMs, last.maxWaitedMs)
    const remarks = String(hints.length + notes.length)
    return [style.bold(plainText(step ?? '', 40)), String(stop.attempt), waited, stop.reason, remarks]
  })
  const space = spaceBeside(columns, rows, look.screen)
  if (space >= MIN_SUMMARY) columns.push({ title: 'policy' })
  const withPolicy = rows.map((row, index) => [...row, plainText(explanations[index]?.summary ?? '', space)])
  const titled = columns.map((column) => ({ ...column, title: style.dim(column.title) }))
  return `${[style.bold(plainText(title)), '', ...alignTable(titled, withPolicy)].join('\n')}\n`
}
