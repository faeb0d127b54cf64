/**
 * The values of flags: what is not a number or a duration is a problem that names the flag. Ranges are checked where the
 * value is used. Imports the library.
 */
import type { Problem } from '@reprise/workflow'
import { parseDuration, PolicyError } from 'reprise'

/** Takes problems and goes on, so that all of them are told at once. */
export class FlagReader {
  readonly problems: Problem[] = []

  number(flag: string, text: string | undefined): number | undefined {
    if (text === undefined) return undefined
    if (/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim())) return Number(text)
    const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text.trim())?.[1]
    const help = percent === undefined ? undefined : `write it as a share of 1: ${Number(percent) / 100}`
    return this.fail(flag, `${JSON.stringify(text)} is not a number`, help)
  }

  /** In milliseconds. */
  duration(flag: string, text: string | undefined): number | undefined {
    if (text === undefined) return undefined
    try {
      return parseDuration(text)
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error
      return this.fail(flag, error.problems[0]?.message ?? error.message)
    }
  }

  fail(flag: string, message: string, suggestion?: string): undefined {
    this.problems.push({ message: `${flag}: ${message}`, ...(suggestion !== undefined && { suggestion }) })
    return undefined
  }
}
