/**
 * That options are what they should be. A misspelt option that is silently ignored is a safety that silently does not
 * apply. Imports core.
 */
import { nearest } from '../core/suggest.js'

/** What an option must be, and the words for it. */
export type OptionCheck = readonly [(value: unknown) => boolean, string]

/** `others`: names that are checked elsewhere. */
export function expectOptions(
  whose: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  others: readonly string[] = [],
): void {
  const known = [...Object.keys(checks), ...others]
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`The options of ${whose} must be an object with ${known.join(', ')}`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (others.includes(name)) continue
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      const near = nearest(name, known)
      throw new TypeError(`Unknown option ${name} of ${whose}${near === undefined ? '' : `: did you mean ${near}?`}`)
    }
    if (value !== undefined && !check[0](value)) throw new TypeError(`The option ${name} must be ${check[1]}`)
  }
}
