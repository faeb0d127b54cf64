/**
 * Where a value stands in what somebody wrote, and how to say what is wrong with it.
 *
 * Invariants: reading goes on after a problem, so that all are told at once; a message shows at most a little of a
 * value and never calls its code (no `toString`, no getter). Imports `suggest` and types of core only.
 */
import type { PolicyProblem } from './errors.js'
import { nearest } from './suggest.js'

export interface Report {
  readonly problems: PolicyProblem[]
  readonly notes: string[]
  /** The policy is a file's: a duration without a unit is refused under every name. */
  readonly needsUnits?: boolean
}

/** A place in the input, in its own spelling: `backoff.base`, `retry_on[2].pattern`; empty for the whole. */
export class Place {
  readonly path: string
  readonly report: Report

  constructor(path: string, report: Report) {
    this.path = path
    this.report = report
  }

  at(key: string): Place {
    return new Place(this.path === '' ? key : `${this.path}.${key}`, this.report)
  }

  item(index: number): Place {
    return new Place(`${this.path}[${index}]`, this.report)
  }

  fail(message: string, suggestion?: string): undefined {
    this.report.problems.push({ path: this.path, message, ...(suggestion !== undefined && { suggestion }) })
  }

  note(sentence: string): void {
    this.report.notes.push(sentence)
  }
}

/** A value as a message shows it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? kindOf(value) : String(value)
}

/** A revoked proxy does not even tell whether it is a list. */
function kindOf(value: object): string {
  try {
    return Array.isArray(value) ? 'a list' : 'an object'
  } catch {
    return 'an object'
  }
}

/** The sentence that most problems are: what stands there, and what should. */
export function isNot(value: unknown, expected: string): string {
  return `${show(value)} is not ${expected}`
}

export function didYouMean(word: unknown, candidates: readonly string[]): string | undefined {
  const near = typeof word === 'string' ? nearest(word, candidates) : undefined
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}
