/** Whether a process holds the lock of a SQLite file: it must not be stopped then. Imports the driver's source. */
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { resultCode } from '../../packages/reprise/src/sqlite/result-codes.js'

export async function isLocked(file: string): Promise<boolean> {
  const database = await openDatabase(file)
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch (error) {
    if (resultCode(error) === undefined) throw error
    return true
  } finally {
    database.close()
  }
}
