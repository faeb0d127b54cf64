/**
 * The values of flags: what is not a number, a duration or one of the words is a problem that names the flag.
 * Ranges are not checked here: who uses the value knows them. Imports the library.
 */
import type { Problem } from '@reprise/workflow'
import { nearest, parseDuration, PolicyError } from 'reprise'

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

  word<T extends string>(flag: string, text: string | undefined, words: readonly T[]): T | undefined {
    if (text === undefined) return undefined
    const found = words.find((word) => word === text)
    if (found !== undefined) return found
    const near = nearest(text, words)
    const help = near === undefined ? undefined : `did you mean \`${near}\`?`
    return this.fail(flag, `${JSON.stringify(text)} is not one of ${words.join(', ')}`, help)
  }

  fail(flag: string, message: string, suggestion?: string): undefined {
    this.problems.push({ message: `${flag}: ${message}`, ...(suggestion !== undefined && { suggestion }) })
    return undefined
  }
}
