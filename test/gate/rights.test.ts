/** The database rights that docs/gates.md gives gates and workers: enough for everything they do, and no more. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { rejection } from '../durable/process-model.js'
import { findFences } from '../docs/fences.js'
import { testDatabase } from '../postgres/shared-server.js'
import { wholeFlow } from './whole-flow.js'

const page = readFileSync(new URL('../../docs/gates.md', import.meta.url), 'utf8')
const [grants] = findFences(page, 'docs/gates.md').filter(({ language }) => language === 'sql')
const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
const roles: string[] = []
afterAll(async () => {
  for (const role of roles) await admin.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)
  await admin.end()
  await database.drop()
})

/** A schema that its owner has made, and a user with these rights on it. */
async function userWith(sql: string): Promise<{ readonly schema: string; readonly url: string }> {
  const [schema, role] = [`jobs_${roles.length}`, `runner_${randomBytes(6).toString('hex')}`]
  await (await openPostgres(`${database.url}?schema=${schema}`)).close()
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'pw'`)
  roles.push(role)
  const named = sql.replaceAll(/\bjobs\b(?=[. ])/g, schema).replaceAll(/\brunner\b/g, role)
  await admin.query(named)
  const url = new URL(database.url)
  url.username = role
  url.password = 'pw'
  return { schema, url: url.href }
}

describe('the rights on the page of gates', () => {
  it('are enough for a gate and workers to do everything', { timeout: 120_000 }, async () => {
    const { schema, url } = await userWith(grants?.code ?? '')
    await wholeFlow(`${url}?schema=${schema}&connections=2`)
  })

  it('are each needed, or a part of the store would fail', { timeout: 120_000 }, async () => {
    const lines = (grants?.code ?? '').split(/;\n/).filter((line) => line.trim() !== '')
    expect(lines).toHaveLength(7)
    // A line of each kind; without it the same work is refused.
    for (const left of [1, 3, 6]) {
      const { schema, url } = await userWith(lines.filter((_line, index) => index !== left).join(';\n'))
      expect(String(await rejection(wholeFlow(`${url}?schema=${schema}&connections=2`)))).toMatch(
        /permission denied|store_unusable/,
      )
    }
  })

  it('let nobody change what was recorded, or the schema', async () => {
    const { schema, url } = await userWith(grants?.code ?? '')
    const user = new pg.Client({ connectionString: url })
    await user.connect()
    for (const sql of [
      `UPDATE ${schema}.events SET detail = NULL`,
      `UPDATE ${schema}.attempts SET attempt = 1`,
      `UPDATE ${schema}.meta SET version = 9`,
      `INSERT INTO ${schema}.dead DEFAULT VALUES`,
      `CREATE TABLE ${schema}.other (a int)`,
      `DROP TABLE ${schema}.tasks`,
      `TRUNCATE ${schema}.tasks`,
      `CREATE SCHEMA other`,
    ])
      expect(String(await rejection(user.query(sql))), sql).toMatch(/permission denied|must be owner/)
    await user.end()
  })
})
