/** Failures and reasons in a line for people. Text of others is made plain. Imports the library. */
import type { StopReason } from 'reprise'
import type { FailureRecord } from 'reprise/durable'
import { plainText } from 'reprise/internal'

const MAX_TEXT = 300

const DAMAGED = '(the record of this failure is invalid)'

/** `connect ECONNREFUSED 127.0.0.1:80`, `exit code 75: no route`. Its first line that says something. */
export function failureText(failure: FailureRecord | null, max: number = MAX_TEXT): string {
  if (failure === null) return ''
  const { name, message, code, exitCode } = failure
  // A summary of what has been done does not end with an error of its own for a record that somebody has damaged.
  if (typeof message !== 'string') return DAMAGED
  const first = message.split(/[\r\n]+/).find((line) => line.trim() !== '') ?? ''
  const own = first === '' ? (code ?? name) : first
  const isSaid =
    exitCode === undefined || new RegExp(`\\b(?:exit(?:ed)?|code|status)\\b[^\\d]*\\b${exitCode}\\b`, 'i').test(own)
  return plainText(isSaid ? own : `exit code ${exitCode}: ${own}`, max)
}

/** At most this much of an error is shown where all of it is asked for. */
const MAX_LINES = 20
const MAX_LINE = 2000

/** The whole error, line by line, for where a table has cut it off. */
export function failureLines(failure: FailureRecord): string[] {
  const lines = failure.message.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  const rest = lines.slice(1).map((line) => plainText(line, MAX_LINE))
  const left = rest.length - (MAX_LINES - 1)
  return [
    failureText(failure, MAX_LINE),
    ...rest.slice(0, MAX_LINES - 1),
    ...(left > 0 ? [`… ${left} more lines`] : []),
  ]
}

/** What the words for a stop reason depend on. */
export interface Stopped {
  readonly stopReason: StopReason | null
  readonly attemptsAllowed?: number
  readonly failure?: FailureRecord | null
  /** Of a step of a run: the timeout of the run cancels the step, its own makes it fail. */
  readonly state?: string
}

/** Half a sentence on why something ended without success. */
const STOPS: Readonly<Record<StopReason, string>> = {
  attempts_exhausted: 'every attempt failed',
  retry_budget_exhausted: 'another wait would exceed its retry budget',
  not_retryable: 'not retried: the failure matches nothing in `retry_on`',
  breaker_open: 'the breaker is open',
  budget_denied: 'a budget denied the attempt',
  timeout: 'its time limit leaves no time for another attempt',
  aborted: 'it was cancelled',
  retry_after_too_long: 'the server asked to wait longer than is allowed',
  interrupted: 'it was interrupted, and it is not known whether it took effect',
  no_policy: 'it has no policy',
}

/** `every attempt failed (attempts_exhausted)`: the words, and the word for programs. */
export function stopWords(stopped: Stopped): string {
  const { stopReason } = stopped
  return stopReason === null ? '' : `${causeOf(stopReason, stopped)} (${stopReason})`
}

function causeOf(reason: StopReason, { attemptsAllowed, failure, state }: Stopped): string {
  if (reason === 'attempts_exhausted' && attemptsAllowed === 1) return 'its only attempt failed'
  if (reason === 'not_retryable' && failure?.retryable === false)
    return 'not retried: another attempt would fail the same way'
  if (reason === 'timeout' && state === 'cancelled') return 'the run has reached its timeout'
  if (reason === 'timeout' && failure?.code === 'timeout') return 'its time limit has passed'
  if (failure?.denial !== undefined) return denialText(failure.denial)
  return STOPS[reason]
}

/** Which gate denied the next attempt, and its own word; empty if none did, or if the failure itself says so. */
export function deniedText(failure: FailureRecord | null): string {
  if (failure?.denial === undefined || DENIALS.has(failure.code ?? '')) return ''
  return denialText(failure.denial)
}

/** Failures of steps of which no attempt was made: their messages name the gate. */
const DENIALS: ReadonlySet<string> = new Set(['breaker_open', 'budget_denied'])

/** `breaker mail is open …`, `budget api denied the attempt: quota_of_tenant_7`. */
function denialText({ gate, reason, message }: NonNullable<FailureRecord['denial']>): string {
  const [kind, name] = [gate.slice(0, gate.indexOf(':')), plainText(gate.slice(gate.indexOf(':') + 1), 60)]
  if (kind === 'breaker') return `breaker ${name} is open, which all runs of the store share`
  const thrown = message === undefined ? '' : `: ${plainText(message, MAX_TEXT)}`
  return `budget ${name} denied the attempt: ${plainText(reason, 60)}${thrown}`
}

/** `step send: every attempt failed (attempts_exhausted)`, as far as it is known. */
export function failureReason(step: string | null, stopped: Stopped): string {
  return [step === null ? '' : `step ${plainText(step, 60)}`, stopWords(stopped)]
    .filter((part) => part !== '')
    .join(': ')
}

/** A step is skipped when its condition is false, and `skipped, when: size > 0` reads like the opposite. */
export function skipText(reason: string): string {
  return reason.replace(/^when: /, '`when` is false: ')
}

/** `1 attempt`, `5 attempts`. */
export function attemptsText(count: number): string {
  return plural(count, 'attempt')
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`
}
