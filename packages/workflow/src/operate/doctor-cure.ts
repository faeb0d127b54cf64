/** What cures a fault, as data: who shows it says it as a command, a link or a button. Imports the library's types. */
import type { FaultPlace, LedgerFault } from 'reprise/internal'
import { GROUP_CURE } from '../run/group-record.js'

export type Cure =
  | { readonly type: 'install_node'; readonly version: string }
  /** A newer release of these packages. */
  | { readonly type: 'update_reprise' }
  | { readonly type: 'make_writable'; readonly path: string }
  /** Or with another store: the directory belongs to somebody else. */
  | { readonly type: 'run_as_owner'; readonly uid: number }
  | { readonly type: 'migrate_store' | 'salvage_store' }
  /** From a backup; what is in its place has to be moved away before. */
  | { readonly type: 'restore_store'; readonly isInPlace: boolean }
  /** Of a program, in which it is cancelled. */
  | { readonly type: 'cancel_task'; readonly name: string; readonly id: string }
  | { readonly type: 'cancel_run' | 'remove_run'; readonly run: string }
  | { readonly type: 'reset_breaker' | 'reset_budget'; readonly name: string }
  | { readonly type: 'grant_budget'; readonly name: string; readonly amount: number }
  /** What the library advises, in its words. */
  | { readonly type: 'advice'; readonly text: string }

export function placeText(place: FaultPlace): string {
  switch (place.type) {
    case 'task':
      return `${place.scopeKind === 'run' ? 'step' : 'task'} ${place.scope}/${place.id}`
    case 'run':
      return `run ${place.run}`
    case 'gate':
      return place.kind === 'record' ? gateName(place.key).replace('run-', '') : `${place.kind} ${gateName(place.key)}`
    case 'tally':
      return `tally ${place.name}`
    case 'ledger':
      return 'the store'
  }
}

/** A run that goes on from a record that cannot be is ended; a run that has ended is removed. */
export function cureOf({ rule, place, excess }: LedgerFault): Cure {
  switch (place.type) {
    case 'task':
      if (place.runState === null && rule === 'history') return { type: 'advice', text: HISTORY_ADVICE }
      if (place.runState === null) return { type: 'cancel_task', name: place.scope, id: place.id }
      if (place.runState === 'missing') return { type: 'salvage_store' }
      return { type: place.runState === 'ended' ? 'remove_run' : 'cancel_run', run: place.scope }
    case 'run':
      return { type: place.isEnded ? 'remove_run' : 'cancel_run', run: place.run }
    case 'gate': {
      const name = gateName(place.key)
      if (place.kind === 'record') return { type: 'advice', text: GROUP_CURE }
      if (place.kind === 'queue') return { type: 'advice', text: QUEUE_ADVICE }
      if (place.kind === 'breaker') return { type: 'reset_breaker', name }
      return excess === undefined ? { type: 'reset_budget', name } : { type: 'grant_budget', name, amount: excess }
    }
    // The copy counts its tasks anew.
    case 'tally':
    case 'ledger':
      return { type: 'salvage_store' }
  }
}

const QUEUE_ADVICE = 'restore the store from a backup, or set limits and pause of the queue anew from a program'

// The task itself is sound: to cancel it would not mend what it has behind it.
const HISTORY_ADVICE = 'the task goes on all the same; to show its history, restore the store from a backup'

function gateName(key: string): string {
  return key.replace(/^(?:breaker|budget|record):/, '')
}
