/** What a campaign has done and found, and the kinds of its fault runs. Imports nothing. */

export const FAULT_RUN_KINDS = ['terminated', 'restarted', 'cut', 'disk', 'paused', 'silent', 'killed'] as const
export type FaultRunKind = (typeof FAULT_RUN_KINDS)[number]

export interface Tally {
  faultRuns: number
  lives: number
  /** Processes whose ledger failed for good, and that were started again. */
  failed: number
  tasks: number
  starts: number
  again: number
  /** Faults that were made, by what they were. */
  readonly made: Map<string, number>
  readonly byKind: Map<FaultRunKind, number>
  readonly faults: string[]
}

export function newTally(): Tally {
  return {
    faultRuns: 0,
    lives: 0,
    failed: 0,
    tasks: 0,
    starts: 0,
    again: 0,
    made: new Map(),
    byKind: new Map(),
    faults: [],
  }
}
