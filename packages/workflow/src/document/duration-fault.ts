/** What is wrong with a length of time in a file. The rule and the words are the library's. Imports the library. */
import { normalizePolicy, PolicyError } from 'reprise'

export function faultOfDuration(value: unknown): string | undefined {
  try {
    normalizePolicy({ timeout: value }, { needsUnits: true })
    return undefined
  } catch (error) {
    if (error instanceof PolicyError) return error.problems[0]?.message
    throw error
  }
}

const LONG_FORM = /^\s*([\d.]+)\s*(ms|millisec|s|sec|m|min|h|hr|hour|d|day|w|week)(?:ond|ute)?s?\s*$/i

/** `5 MINUTES` is written `5m`. */
export function shortForm(value: unknown): string | undefined {
  const [, count = '', unitName = ''] = (typeof value === 'string' && LONG_FORM.exec(value)) || []
  if (count === '') return undefined
  const unit = /^m(s|il)/i.test(unitName) ? 'ms' : unitName.charAt(0).toLowerCase()
  return `did you mean \`${count}${unit}\`?`
}
