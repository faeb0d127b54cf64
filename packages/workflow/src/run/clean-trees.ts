/**
 * Working trees that processes have left which are gone: found by the files of runs, whatever has become of the runs. Imports
 * the ledger's types, the state directory, notes and the places of items.
 */
import path from 'node:path'
import type { Ledger } from 'reprise/durable'
import type { StateDirectory } from '../state/state-directory.js'
import { faultsOfNotes, notesOf } from '../view/run-notes.js'
import type { LeftTrees } from '../workplaces/left-trees.js'

/** Of all runs, or of one. What was done in them becomes commits before they are removed. `isDry`: they are only named. */
export async function cleanTrees(
  ledger: Ledger,
  state: StateDirectory,
  isDry: boolean,
  run?: string,
): Promise<LeftTrees> {
  const { removeLeftTrees } = await import('../workplaces/left-trees.js')
  const [trees, branches]: [string[], string[]] = [[], []]
  for (const id of run === undefined ? state.runs() : [run]) {
    const record = await ledger.run(id)
    // Of a run that is no longer known: the directory that has the files of runs.
    const isKnown = record !== undefined && faultsOfNotes(record).length === 0
    const cwd = isKnown ? notesOf(record).cwd : path.dirname(state.path)
    const left = await removeLeftTrees(state.runDirectory(id), cwd, isDry)
    trees.push(...left.trees)
    branches.push(...left.branches)
  }
  return { trees, branches }
}
