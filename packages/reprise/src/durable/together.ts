/** Several changes in one commit. Imports types of the ledger and of its own layer. */
import type { Changes } from '../ledger/ledger.js'
import type { Settled } from './transitions.js'

/** Two changes of one task in one commit, one after the other: the second says what the task is. */
export function inOneCommit(first: Settled, second: Settled): Settled {
  return {
    ...second,
    attempts: both(first.attempts, second.attempts),
    dead: both(first.dead, second.dead),
    closedLetters: both(first.closedLetters, second.closedLetters),
    checkpoints: both(first.checkpoints, second.checkpoints),
    events: both(first.events, second.events),
  }
}

/** Most changes have rows of one or two kinds. */
function both<T>(first: readonly T[] = [], second: readonly T[] = []): readonly T[] {
  if (first.length === 0) return second
  return second.length === 0 ? first : [...first, ...second]
}

/** A change of a task, with what it means for its group. */
export function withGroup(changes: Changes, group: Changes): Changes {
  return {
    tasks: both(changes.tasks, group.tasks),
    attempts: both(changes.attempts, group.attempts),
    dead: both(changes.dead, group.dead),
    closedLetters: both(changes.closedLetters, group.closedLetters),
    checkpoints: both(changes.checkpoints, group.checkpoints),
    events: both(changes.events, group.events),
    gates: both(changes.gates, group.gates),
    runs: group.runs ?? [],
    created: group.created ?? [],
  }
}
