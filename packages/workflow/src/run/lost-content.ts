/**
 * A store that has lost what was in it: its file holds nothing, and beside it are the logs of earlier runs. Taken for a new
 * one it would hide the loss, and what a cut log still has would be overwritten. Imports Node, the library and the state
 * directory.
 */
import { statSync } from 'node:fs'
import { openLedger } from 'reprise/durable'
import { expectOwnStore } from '../state/own-store.js'
import { StateDirectory } from '../state/state-directory.js'
import { StateError } from '../state/state-error.js'

/** A ledger as it was made is smaller than this: what is larger holds something. */
const MOST_EMPTY_BYTES = 131_072
/** Of a file whose tables were in its log alone there is the first page at most. */
const FIRST_PAGE_BYTES = 4096
const NAMED = 3

/** Also that its files are its own. `store`: an address, of which only `sqlite:PATH` has a file. A file that is not there is a new store. */
export async function expectContent(store: string, stateDirectory: string): Promise<void> {
  expectOwnStore(store, stateDirectory)
  const [, file] = /^sqlite:(.+)$/s.exec(store) ?? []
  const size = file === undefined ? undefined : sizeOf(file)
  if (file === undefined || size === undefined || size > MOST_EMPTY_BYTES) return
  const runs = StateDirectory.at(stateDirectory).runs()
  if (runs.length === 0 || !(await holdsNothing(store, size))) return
  const named =
    runs.length > NAMED ? `${runs.slice(0, NAMED).join(', ')} and ${runs.length - NAMED} more` : runs.join(', ')
  const what = `holds nothing, although logs of earlier runs are beside it (${named}): it was emptied, or its -wal file cut`
  const cure = `move it away, then restore a backup (\`reprise store restore BACKUP\`) or begin anew; nothing was changed`
  throw new StateError(file, what, cure)
}

/** Opened to read alone: a log that was cut is not touched. What cannot be read is told by whoever opens it to work on it. */
async function holdsNothing(store: string, size: number): Promise<boolean> {
  try {
    const ledger = await openLedger(store, { create: false, readOnly: true })
    try {
      const found = [await ledger.runs({ limit: 1 }), await ledger.events(0, 1), await ledger.list({ limit: 1 })]
      return found.every(({ length }) => length === 0)
    } finally {
      await ledger.close()
    }
  } catch {
    return size <= FIRST_PAGE_BYTES
  }
}

/** Undefined if there is none. Whoever opens a file that cannot be looked at is told why. */
function sizeOf(file: string): number | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() === true ? stats.size : undefined
  } catch {
    return undefined
  }
}
