/**
 * What the figures say about the policy under test, in a sentence or two. Imports words and numbers.
 * Invariant: a sentence claims only what the report shows.
 */
import { formatDuration } from 'reprise'
import type { Report } from 'reprise/simulate'
import type { CompleteScenario } from 'reprise/internal/simulate'
import { factor, percent, plainNumber, possible } from '../words/figures.js'
import { meanOf } from '../words/scale.js'
import { FAULT_NOUNS } from './scenario-words.js'

/** Chance alone makes a second this much worse than the others. */
const CALM = 1.2
/** Below this share calls are lost rather than fewer. */
const LOST = 0.5
/** The end of the simulation, over which load and successes are averaged. */
const LAST_SECONDS = 30
const MAX_NAMES = 4

export function verdictOn(scenario: CompleteScenario, policies: readonly [Report, ...Report[]]): string[] {
  const [subject, ...others] = policies
  const sentences = [ownSentence(scenario, subject), othersSentence(others, scenario)]
  return sentences.filter((sentence) => sentence !== undefined)
}

function isCalm({ fault, during }: CompleteScenario): boolean {
  return fault === 'none' || during === 0
}

function ownSentence(scenario: CompleteScenario, report: Report): string {
  const { success, calls, attempts } = report
  if (isCalm(scenario)) {
    const each = calls === 0 ? 0 : attempts / calls
    return `Nothing happens to the server: ${percent(success.total)} of the calls succeed, with ${factor(each)} attempts each.`
  }
  return report.recoveryMs === null ? lostSentence(scenario, report) : backSentence(scenario, report, report.recoveryMs)
}

function lostSentence({ fault, capacity, after }: CompleteScenario, { success, seconds }: Report): string {
  const atEnd = (values: readonly number[]): number => meanOf(values.slice(-LAST_SECONDS))
  const [load, share] = [atEnd(seconds.attempts), atEnd(seconds.useful) / Math.max(1, atEnd(seconds.calls))]
  const noun = FAULT_NOUNS[fault]
  const time = formatDuration(after)
  if (share >= LOST || load <= capacity) {
    return `Does not get back to normal within ${time}: ${percent(success.after)} of the calls succeed in the minute after the ${noun}.`
  }
  const overload = `${plainNumber(Math.round(load))} attempts/s for ${plainNumber(capacity)} that it can do`
  const lost = share === 0 ? 'no call succeeds' : `${percent(share)} of the calls succeed`
  return `Collapses: after the ${noun} the server stays overloaded, with ${overload}; ${time} later ${lost}.`
}

function backSentence({ fault }: CompleteScenario, report: Report, recoveryMs: number): string {
  const { amplification, goodput } = report
  const { worst, mean } = amplification
  const noun = FAULT_NOUNS[fault]
  const load =
    worst > CALM
      ? `Multiplies the load by up to ${factor(worst)} in the ${noun}`
      : mean < 1 / CALM
        ? `Takes load off the server in the ${noun}, down to ${factor(mean)}× on average`
        : `Stays at ${factor(mean)}× the load in the ${noun}`
  const back = recoveryMs === 0 ? 'is back as soon as it is over' : `is back ${formatDuration(recoveryMs)} after it`
  const through = goodput === null ? '' : ` In it, ${possible(goodput)} of the possible calls succeed.`
  return `${load}, and ${back}.${through}`
}

/** Whoever of the others never comes back, and should be known for it. */
function othersSentence(others: readonly Report[], scenario: CompleteScenario): string | undefined {
  const lost = others.filter((report) => report.recoveryMs === null).map(({ name }) => name)
  if (lost.length === 0 || isCalm(scenario)) return undefined
  if (lost.length > MAX_NAMES) return `Of the ${others.length} others, ${lost.length} never recover.`
  const last = lost.at(-1) ?? ''
  if (lost.length === 1) return `Of the others, ${last} never recovers.`
  return `Of the others, ${lost.slice(0, -1).join(', ')} and ${last} never recover.`
}
