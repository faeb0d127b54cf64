/**
 * From what an event says to what may be a label: bounded, well-formed text, and words of a closed set.
 *
 * Invariants: a word outside its set is `other`, so only names that people choose (keys, budgets, breakers) are open;
 * no text of an error ever becomes a label. Imports core only.
 */
import { ADAPTIVE_REASONS } from '../core/budgets/adaptive.js'
import { COUNT_REASONS } from '../core/budgets/count.js'
import { ATTEMPT_KINDS, ATTEMPT_RESULTS, BUDGET_REASONS, STOP_REASONS } from '../core/words.js'

/** What a label says when its own value has no room or is not one of the words it may be. */
export const OTHER = 'other'

/** Longer names share a series when they begin alike; a name is meant to be short. */
const MAX_LABEL_LENGTH = 128

/** Of attempts that ran: one that was denied has a record, but no event says that it finished. */
export const OUTCOMES: readonly string[] = ATTEMPT_RESULTS.filter((word) => word !== 'denied')
/** What the resolution of budgets and the built-in ones say. */
export const KNOWN_REASONS: readonly string[] = [...BUDGET_REASONS, ...COUNT_REASONS, ...ADAPTIVE_REASONS]

const kinds: ReadonlySet<string> = new Set(ATTEMPT_KINDS)
const outcomes: ReadonlySet<string> = new Set(OUTCOMES)
const stopReasons: ReadonlySet<string> = new Set(STOP_REASONS)
const budgetReasons: ReadonlySet<string> = new Set(KNOWN_REASONS)

export const kindLabel = (word: string): string => (kinds.has(word) ? word : OTHER)
export const outcomeLabel = (word: string): string => (outcomes.has(word) ? word : OTHER)
export const stopReasonLabel = (word: string): string => (stopReasons.has(word) ? word : OTHER)
/** Reasons of custom budgets are free text, possibly one per request: they count together. */
export const budgetReasonLabel = (word: string): string => (budgetReasons.has(word) ? word : OTHER)

/** Line breaks but `\n`, which formats can escape; other controls; surrogates, which no encoding can carry alone. */
const UNFIT = /(?!\n)\p{Cc}|\p{Zl}|\p{Zp}|\p{Surrogate}/gu

/** A name as a label. What is unfit is replaced here, before series are told apart, so that two of them stay two. */
export function nameLabel(name: string): string {
  return typeof name === 'string' ? name.slice(0, MAX_LABEL_LENGTH).replaceAll(UNFIT, '\ufffd') : OTHER
}
