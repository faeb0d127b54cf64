/** What was measured with: Node, driver, processors, and what a commit costs just now. Imports the choice of driver. */
import { cpus } from 'node:os'
import { driverInUse, openChosenDatabase } from '../../test/chosen-driver.js'
import { number } from './report.js'
import { inNewDirectory } from './scratch.js'
import { median } from './statistics.js'

/** The driver in use with its SQLite, and what a commit with a sync costs just now. */
export async function driverFacts(): Promise<string> {
  const cpu = `${cpus().length} × ${cpus()[0]?.model.trim()}`
  const driver = `${await driverInUse()}, SQLite ${await sqliteVersion()}`
  return `Node ${process.versions.node}, ${driver}, ${cpu}, ${number(await syncMs())} ms a commit of one row.`
}

async function sqliteVersion(): Promise<string> {
  const database = await openChosenDatabase(':memory:')
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  database.close()
  return version
}

function syncMs(): Promise<number> {
  return inNewDirectory(async (directory) => {
    const database = await openChosenDatabase(`${directory}/file`)
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
