/** What was measured with: Node, driver, processors, and what a commit costs just now. Imports the library's driver. */
import { cpus } from 'node:os'
import { openDatabase, type SqliteDriverName, SQLITE_DRIVERS } from '../../packages/reprise/src/sqlite/driver.js'
import { number } from './report.js'
import { inNewDirectory } from './scratch.js'
import { median } from './statistics.js'

/** The driver that the library would choose, with its SQLite, and what a commit with a sync costs just now. */
export async function driverFacts(): Promise<string> {
  for (const driver of SQLITE_DRIVERS) {
    const version = await versionBy(driver).catch(() => undefined)
    if (version === undefined) continue
    const cpu = `${cpus().length} × ${cpus()[0]?.model.trim()}`
    return `Node ${process.versions.node}, ${driver}, SQLite ${version}, ${cpu}, ${number(await syncMs())} ms a commit of one row.`
  }
  throw new Error('There is no driver for SQLite')
}

async function versionBy(driver: SqliteDriverName): Promise<string> {
  const database = await openDatabase(':memory:', driver)
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  database.close()
  return version
}

function syncMs(): Promise<number> {
  return inNewDirectory(async (directory) => {
    const database = await openDatabase(`${directory}/file`)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (i)')
    const insert = database.prepare('INSERT INTO rows VALUES (?)')
    const times = Array.from({ length: 200 }, (_, i) => {
      const startMs = performance.now()
      insert.run(i)
      return performance.now() - startMs
    })
    database.close()
    return median(times)
  })
}
