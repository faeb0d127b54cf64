/** What is odd in how the steps of a workflow are written, though nothing forbids it. Imports the library and `spot`. */
import { nearest } from 'reprise'
import { hasFields } from './spot.js'

const MAX_POSITIONS = 5
/** What people write for `retry` that is too far from it to be a slip of the fingers. */
const OTHER_WORDS = /^(max_?)?(retries|attempts)$|^retry_?policy$/i

/** Sentences for each step, in the order of the steps. */
export function remarkOnSteps(
  steps: readonly unknown[],
  names: readonly string[],
  retryKeys: readonly string[],
): string[][] {
  const positions = new Map<string, number[]>()
  for (const [index, name] of names.entries())
    positions.set(name, [...(positions.get(name) ?? []).slice(0, MAX_POSITIONS), index + 1])
  return steps.map((step, index) => {
    const name = names[index] ?? ''
    return [...unreadKeys(step, name, retryKeys), ...sharedName(name, positions.get(name) ?? [])]
  })
}

/** Keys that look like a policy and are none. */
function unreadKeys(step: unknown, name: string, retryKeys: readonly string[]): string[] {
  const keys = hasFields(step) ? Object.keys(step).filter((key) => !retryKeys.includes(key)) : []
  return keys.flatMap((key) => {
    const near = meantAs(key, retryKeys)
    return near === undefined ? [] : `Step ${name}: \`${key}\` is not read. Did you mean \`${near}\`?`
  })
}

/** Words such as `return` and `entry` are as near to `retry` as a slip: the letters that make it must be there. */
export function meantAs(key: string, retryKeys: readonly string[]): string | undefined {
  if (OTHER_WORDS.test(key)) return retryKeys[0]
  return /^r.*t.*[yi]/i.test(key) ? nearest(key, retryKeys) : undefined
}

function sharedName(name: string, positions: readonly number[]): string[] {
  if (positions.length < 2) return []
  const shown = positions.slice(0, MAX_POSITIONS).join(', ') + (positions.length > MAX_POSITIONS ? ', …' : '')
  return [`Steps ${shown} share the name ${name}: it means the first of them. A position means any one.`]
}
