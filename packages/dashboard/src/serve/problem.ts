/**
 * What a server refuses and why, as problem+json (RFC 9457). A refusal is a value until it is answered, so that every check
 * is a function that tests can call. Imports the text of JSON.
 */
import { jsonText } from '@reprise/workflow/internal'

/** A field of the request that is wrong. */
export interface FieldProblem {
  /** Where: `workflows[0].name`, or the name of a header or parameter. */
  readonly path: string
  readonly message: string
  readonly suggestion?: string
}

export interface Problem {
  readonly status: number
  /** The word for programs; `type` of the answer is made of it. */
  readonly kind: string
  /** The same for every problem of this kind. */
  readonly title: string
  readonly detail?: string
  readonly problems?: readonly FieldProblem[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Ends the handling of a request with a problem. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title)
    this.problem = problem
  }
}

export const PROBLEM_TYPE = 'application/problem+json'

const TYPE_PREFIX = 'urn:reprise:problem:'

export function problemResponse({ status, kind, title, detail, problems, headers }: Problem): Response {
  const body = {
    type: `${TYPE_PREFIX}${kind}`,
    title,
    status,
    kind,
    ...(detail !== undefined && { detail }),
    ...(problems !== undefined && { problems }),
  }
  return new Response(`${jsonText(body)}\n`, { status, headers: { ...headers, 'content-type': PROBLEM_TYPE } })
}

/** The request itself is wrong: a status for each reason would say no more than the words. */
export function badRequest(problems: readonly FieldProblem[]): ProblemError {
  const detail = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return new ProblemError({ status: 400, kind: 'invalid', title: 'The request is wrong', detail, problems })
}
