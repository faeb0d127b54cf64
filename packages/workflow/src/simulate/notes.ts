/** What is to be known about a policy and a scenario before its figures are believed. Imports types and durations. */
import { formatDuration, type Policy } from 'reprise'
import type { FaultKind } from 'reprise/simulate'
import type { CompleteScenario } from 'reprise/internal/simulate'
import type { FieldWords } from './field-words.js'

/** How calls mostly fail in a fault, in the words of `retry_on`. */
const FAILURES: Partial<Record<FaultKind, string>> = {
  hang: 'timeout',
  flap: 'timeout',
  capacity: 'timeout',
  slow: 'timeout',
  refuse: 'network',
  errors: 'server_error',
}

export function notesOn(policy: Policy, scenario: CompleteScenario, words: FieldWords): string[] {
  const notes = [
    endlessAttempts(policy, scenario, words),
    shortQueue(policy, scenario, words),
    otherFailures(policy, scenario),
  ]
  return notes.filter((note) => note !== undefined)
}

function isStall({ fault }: CompleteScenario): boolean {
  return FAILURES[fault] === 'timeout'
}

function endlessAttempts(
  { attemptTimeoutMs, timeoutMs }: Policy,
  scenario: CompleteScenario,
  words: FieldWords,
): string | undefined {
  if (attemptTimeoutMs !== undefined || timeoutMs !== undefined || !isStall(scenario)) return undefined
  const limit = words('attemptTimeout', '1s')
  return `Nothing ends an attempt that hangs, so it waits for the server and is never retried: \`${limit}\` does.`
}

/** A storm lives on answers that come when nobody waits any more. */
function shortQueue(
  { attemptTimeoutMs, attempts }: Policy,
  scenario: CompleteScenario,
  words: FieldWords,
): string | undefined {
  const { queue, serviceTime } = scenario
  if (attemptTimeoutMs === undefined || attempts === 1 || !isStall(scenario)) return undefined
  if (attemptTimeoutMs <= queue + serviceTime) return undefined
  const [limit, length] = [formatDuration(attemptTimeoutMs), formatDuration(queue)]
  const longer = formatDuration(Math.ceil((2 * attemptTimeoutMs) / 1000) * 1000)
  return (
    `Attempts wait ${limit}, longer than the server's queue of ${length}: what stands in it is answered in time, so ` +
    `no storm can last. \`${words('queue', longer)}\` shows a server that accepts more.`
  )
}

function otherFailures({ retryOn, attempts }: Policy, { fault }: CompleteScenario): string | undefined {
  const failure = FAILURES[fault]
  const isNamed = retryOn.some((matcher) => matcher === failure || typeof matcher !== 'string')
  if (failure === undefined || retryOn.length === 0 || attempts === 1 || isNamed) return undefined
  return `\`retry_on\` does not name ${failure}, which is how calls fail here: the simulation retries every failure.`
}
