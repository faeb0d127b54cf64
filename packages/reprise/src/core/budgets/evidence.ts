/**
 * What counts as evidence, the same for all parts of the adaptive budget: how much is remembered, how many are few, what
 * is chance, and which share of late attempts is usual. Imports nothing.
 */

/** Share of the patience within which an answer is fast. */
export const FAST_SHARE = 0.25
/** Attempts that a share or a mean is taken of; the last ones count most. So many patiences, and rounds, too. */
export const MEMORY = 8
/** Fewer answers than this are chance; a client with few calls may keep so many tokens or credits. */
export const FEW = 4
/** What is less likely than this is not chance. */
export const LEAST_CHANCE = 0.01
/** A smaller share of late attempts is the long tail of a dependency that is well. */
export const LONG_TAIL = 0.15
/** Changes no result any more. Without it a share would fade to a denormal number, with which arithmetic takes far longer. */
const NEGLIGIBLE = 1e-20

/** The share after one more attempt that does or does not count. */
export function moved(share: number, counts: boolean): number {
  const next = share + ((counts ? 1 : 0) - share) / MEMORY
  return next < NEGLIGIBLE ? 0 : next
}
