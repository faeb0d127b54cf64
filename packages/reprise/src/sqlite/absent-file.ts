/** Whether there is no file: unlike one that this user may not look at. Imports Node. */
import { statSync } from 'node:fs'

/** A file that cannot be looked at is left to SQLite, which says why it cannot be opened. */
export function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
