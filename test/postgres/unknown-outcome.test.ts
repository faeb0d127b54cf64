/** Who cannot find out whether his last decision was written is told just that, and decides nothing more. */
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { PostgresProxy } from './proxy.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
const admin = new pg.Client(database.url)
await admin.connect()
afterAll(async () => {
  await proxy.close()
  await admin.end()
  await database.drop()
})

it('a commit of which nothing can be found out makes the ledger unusable', async () => {
  const ledger = await openPostgres(proxy.urlOf(database.url))
  await ledger.create([newTask({ id: 'a' })])
  // Nothing gets through until the notes of what was written are gone.
  const cut = proxy.cutAtCommit('before').then(() => proxy.silenceAll())
  const failed = ledger.create([newTask({ id: 'b' })]).catch((error: unknown) => error)
  await cut
  await admin.query('ALTER TABLE reprise.writers RENAME TO lost')
  proxy.heal()
  expect(await failed).toMatchObject({
    problem: 'unusable',
    message: expect.stringMatching(
      /^Whether the last decision was written is not known\. The ledger .* the schema is missing or incomplete/,
    ),
  })
  await ledger.close()
})
