/**
 * What an operation threw, as a problem for the caller. A fault of ours says nothing of itself to the outside. Imports the
 * library's errors.
 */
import { isRepriseError } from 'reprise'
import type { LedgerError, RefusalKind } from 'reprise/durable'
import { describeError, plainText } from 'reprise/internal'
import { type Problem, ProblemError } from './problem.js'

const MAX_TEXT = 1000

/** `onFault` hears of what is our own fault, or the store's. */
export function problemOf(error: unknown, onFault: (text: string) => void): Problem {
  if (error instanceof ProblemError) return error.problem
  if (isRepriseError(error, 'invalid_options')) {
    const detail = plainText(error.message, MAX_TEXT)
    return { status: 400, kind: 'invalid', title: 'The request is wrong', detail, problems: error.problems }
  }
  if (isRepriseError(error, 'task_refused')) return refusal(error.kind, plainText(error.message, MAX_TEXT))
  if (isRepriseError(error, 'ledger')) return storeProblem(error, onFault)
  onFault(describeError(error, MAX_TEXT))
  return { status: 500, kind: 'bug', title: 'The server failed', detail: 'what went wrong is in its own log' }
}

function refusal(kind: RefusalKind, detail: string): Problem {
  if (kind === 'not_found') return { status: 404, kind, title: 'There is no such thing', detail }
  if (kind === 'closed') return closing()
  return { status: 409, kind, title: 'The change is refused as things stand', detail }
}

/** A client asks another server, or this one again after its restart. */
export function closing(): Problem {
  const title = 'The server is stopping'
  return { status: 503, kind: 'closing', title, headers: { 'retry-after': '1' } }
}

/** Problems of a store that pass by themselves. */
const PASSING: readonly LedgerError['problem'][] = ['busy', 'unreachable']

function storeProblem({ problem, message }: LedgerError, onFault: (text: string) => void): Problem {
  if (problem === 'closed') return closing()
  onFault(plainText(message, MAX_TEXT))
  const title = 'The store cannot be used at the moment'
  const headers = { 'retry-after': PASSING.includes(problem) ? '1' : '10' }
  return { status: 503, kind: `store_${problem}`, title, headers }
}
