/** Flags that are a whole number of 1 or more. Imports the errors of a wrong use. */
import { UsageError } from '../failures.js'

/** Undefined if it was not given. */
export function countOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0) return count
  throw new UsageError(`${flag} ${text} is no whole number of 1 or more`, `such as ${flag} 10`)
}
