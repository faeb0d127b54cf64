/**
 * From how an execution ended to what is recorded of it. The policy's own functions are asked here, before the
 * transaction: what they throw is a failure that is not retried. Imports core and its own layer.
 */
import { expectAnswer } from '../core/answer.js'
import { isNotYet, isRetryable } from '../core/classify.js'
import { ResultError } from '../core/errors.js'
import { isNot } from '../core/problems.js'
import { mayStateRetryAfter, retryAfterMs } from '../core/retry-after.js'
import type { Definition } from './definition.js'
import type { ExecutionEnd } from './execution.js'
import { errorOf, failureOf } from './failure-record.js'
import { expectJson } from './json.js'
import type { Verification } from './interruption.js'
import type { AttemptEnd } from './transitions.js'

export function attemptEndOf(
  { name, policy }: Definition,
  end: Exclude<ExecutionEnd, { type: 'stopped' }>,
  attempt: number,
  wallMs: number,
): AttemptEnd {
  if (end.type === 'value') return valueEnd(name, policy.failIf, end.value, (error) => failed(error))
  if (end.type === 'call_timeout') return { ...failed(end.error), result: 'timeout', outOfTime: true }
  return { ...failed(end.error), result: end.type === 'error' ? 'failure' : 'timeout' }

  function failed(error: unknown): Exclude<AttemptEnd, { result: 'success' }> {
    const waitMs = mayStateRetryAfter(error) ? retryAfterMs(error, wallMs) : undefined
    try {
      const retryable = isRetryable(policy, error, { key: name, attempt, launch: attempt, kind: 'retry' })
      const known = { result: 'failure', failure: failureOf(error), retryable, retryAfterMs: waitMs } as const
      return isNotYet(error) ? { ...known, isNotYet: true } : known
    } catch (thrown) {
      return { result: 'failure', failure: failureOf(thrown), retryable: false, retryAfterMs: undefined }
    }
  }
}

/** What was thrown, for those who observe; what the record says where nothing was. */
export function errorOfEnd(end: ExecutionEnd, recorded: AttemptEnd): unknown {
  if ('error' in end) return end.error
  return recorded.result === 'success' ? undefined : errorOf(recorded.failure)
}

/**
 * What the program found of an attempt that was interrupted; undefined if it was stopped before it knew. A look that
 * failed, or answered something else, found nothing: the event says why, since a person has to decide then.
 */
export function verificationOf(end: ExecutionEnd): Verification | undefined {
  if (end.type === 'stopped') return undefined
  if (end.type !== 'value') return { type: 'unknown', failure: failureOf(end.error) }
  const answer = end.value
  if (answer === 'rerun' || answer === 'unknown') return { type: answer }
  try {
    if (typeof answer !== 'object' || answer === null || !('done' in answer))
      throw new TypeError(`the answer of verify is wrong: ${isNot(answer, "'rerun', 'unknown' or { done: result }")}`)
    return { type: 'done', result: answer.done === undefined ? null : expectJson(answer.done, 'done') }
  } catch (error) {
    return { type: 'unknown', failure: failureOf(error) }
  }
}

function valueEnd(
  name: string,
  failIf: ((value: unknown) => boolean) | undefined,
  value: unknown,
  failed: (error: unknown) => AttemptEnd,
): AttemptEnd {
  try {
    if (failIf !== undefined && expectAnswer(failIf(value), 'failIf')) return failed(new ResultError(name, value))
    return { result: 'success', value: value === undefined ? null : expectJson(value, 'result') }
  } catch (error) {
    // Trying again would give the same kind of result.
    return { result: 'failure', failure: failureOf(error), retryable: false, retryAfterMs: undefined }
  }
}
