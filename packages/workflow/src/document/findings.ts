/** What is wrong with a source, gathered while it is read, so that all of it is told at once. Imports located values and problems. */
import { byPlace, InputError, type Problem } from './problem.js'
import type { Source } from './source.js'
import { problemOf, problemWithin, type LocatedValue, type TextPart } from './located.js'

export class Findings {
  readonly source: Source
  readonly problems: Problem[] = []

  constructor(source: Source) {
    this.source = source
  }

  /** A reader that failed has nothing to give. */
  fail(located: LocatedValue, message: string, suggestion?: string, atKey = false): undefined {
    this.problems.push(problemOf(this.source, located, message, suggestion, atKey))
    return undefined
  }

  /** At a part of the value's text if that can be found, else at the value, with `otherwise` behind the message. */
  failWithin(located: LocatedValue, part: TextPart, message: string, suggestion?: string, otherwise = ''): void {
    const placed = problemWithin(this.source, located, part, message, suggestion)
    if (placed === undefined) this.fail(located, message + otherwise, suggestion)
    else this.problems.push(placed)
  }

  /** Throws all of them, in the order of the file. */
  done(): void {
    if (this.problems.length > 0) throw new InputError(this.problems.toSorted(byPlace), this.source.text)
  }
}
