/**
 * How a second thread renews an owner's row in a SQLite file: by the driver of this process, since two copies of SQLite
 * in one process would undo each other's locks of the file. Imports Node's modules and its own layer.
 */
import { createRequire } from 'node:module'
import type { ThreadHeartbeat } from '../ledger/ledger.js'
import type { SqliteDriverName } from './driver.js'

/**
 * Opened for one renewal, while the main thread has the file open: so this connection is never the last to close, which
 * would write the log back. One statement as text, since a prepared one keeps the file of some drivers open.
 */
const CONNECT = `
  const { driver, module, file } = data
  const { existsSync } = require('node:fs')
  const loaded = require(module)
  const open = () => {
    if (driver === 'better-sqlite3') return new loaded(file)
    return new loaded.DatabaseSync(file)
  }
  return (owner, leaseMs) => {
    // To open a file that somebody has removed would make another one.
    if (!existsSync(file)) return
    const database = open()
    try {
      database.exec('PRAGMA busy_timeout = ' + Math.ceil(leaseMs / 10))
      database.exec('PRAGMA wal_autocheckpoint = 0')
      const text = "'" + owner.replaceAll("'", "''") + "'"
      const record = "json_set(record, '$.leaseUntilMs', " + (Date.now() + leaseMs) + ')'
      database.exec('UPDATE owners SET record = ' + record + ' WHERE id = ' + text)
    } finally {
      database.close()
    }
  }
`

/** `file` is absolute. Undefined where the driver cannot be found again, as in some bundles. */
export function sqliteHeartbeat(file: string, driver: SqliteDriverName): ThreadHeartbeat | undefined {
  try {
    const module = driver === 'node:sqlite' ? driver : createRequire(import.meta.url).resolve(driver)
    return { connect: CONNECT, data: { driver, module, file } }
  } catch {
    return undefined
  }
}
