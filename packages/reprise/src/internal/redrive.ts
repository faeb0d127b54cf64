/** Redrives by a process that has definitions, for our own packages. Imports the durable driver. */
import type { Durable } from '../durable/durable.js'
import { type LetterRef, redriveLetters, type Redriven, type RedriveOptions } from '../durable/redrive.js'

/**
 * Grants a new generation to tasks whose letters are open. Tasks whose definitions are registered here are redriven with
 * their groups and by the policy of now; others as the ledger has them.
 */
export function redriveWith(
  durable: Durable,
  letters: readonly LetterRef[],
  options: RedriveOptions,
): Promise<readonly Redriven[]> {
  const { ledger, worker, changes } = {
    ledger: durable['ledger'],
    worker: durable['worker'],
    changes: durable['changes'],
  }
  return redriveLetters(ledger, letters, options, {
    definitionOf: (queue) => worker.definitions.get(queue),
    redrive: (definition, letter, how) => changes.redrive(definition, letter, how),
    wake: () => worker.wakeAll(),
  })
}
