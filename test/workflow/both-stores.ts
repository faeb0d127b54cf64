/** Tests of the command line over both kinds of stores. Imports the servers of tests and the fixture of the command line. */
import { afterAll, beforeAll, describe } from 'vitest'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'
import { keepIn } from './cli-fixture.js'

/** The tests of `define`, once with fixtures that have a SQLite file and once with fixtures on a PostgreSQL server. */
export function onBothStores(name: string, define: () => void): void {
  describe.each(['sqlite', 'postgres'])(`${name} on %s`, (kind) => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      if (kind === 'sqlite') return
      database = await testDatabase()
      keepIn(database.url)
    })
    afterAll(async () => {
      keepIn(undefined)
      await database?.drop()
    })
    define()
  })
}
