/** What completion looks up in the store. Imports nothing. */

export const LIVE_KINDS = ['runs', 'steps', 'tasks', 'breakers', 'budgets'] as const
export type LiveKind = (typeof LIVE_KINDS)[number]

/** The hidden first argument by which the scripts of shells ask: `reprise __complete steps nightly-7 --store URL`. */
export const LIVE_COMMAND = '__complete'
