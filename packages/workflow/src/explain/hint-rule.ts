/** What a hint is made of. Imports types only. */
import type { Facts } from './facts.js'

/** The code stays; `say` gives a sentence if the hint applies. */
export type HintRule = readonly [code: string, say: (facts: Facts) => string | false | undefined]
