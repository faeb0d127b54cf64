/** What a campaign has done and found, and the kinds of its scenes. Imports nothing. */

export const KINDS_OF_SCENE = ['terminated', 'restarted', 'cut', 'disk', 'paused', 'silent', 'killed'] as const
export type SceneKind = (typeof KINDS_OF_SCENE)[number]

export interface Tally {
  scenes: number
  lives: number
  /** Processes whose ledger failed for good, and that were started again. */
  failed: number
  tasks: number
  starts: number
  again: number
  /** Faults that were made, by what they were. */
  readonly made: Map<string, number>
  readonly byKind: Map<SceneKind, number>
  readonly faults: string[]
}

export function newTally(): Tally {
  return {
    scenes: 0,
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
