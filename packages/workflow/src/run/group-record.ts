/**
 * The row that says which run has a group, as `run-group.ts` writes it: its key, and what of it cannot be. Apart, so that
 * `doctor` does not load what conducts runs. Imports the shapes of JSON.
 */
import type { Json } from 'reprise/durable'
import { fields, NUMBER, orNull, shapeFaults, TEXT } from 'reprise/internal'

const KEY = 'record:run-group/'
const RECORD = fields({ holder: orNull(fields({ run: TEXT, owner: TEXT }, { cameAtMs: NUMBER })) })

export const GROUP_CURE = 'restore the store from a backup, or give the group another name'

export function groupKey(name: string): string {
  return `${KEY}${name}`
}

/** What is wrong with the row of a group; nothing where the row is no group's. */
export function faultsOfGroup({ key, state }: { readonly key: string; readonly state: Json }): string[] {
  return key.startsWith(KEY) ? shapeFaults(RECORD, state, 'state') : []
}
