/** Logs of ledgers that are used from one directory: of the same run's id in each, they stay apart. Needs a build. */
import { readdirSync, statSync } from 'node:fs'
import { statePathFor } from '@reprise/workflow/internal'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DEFAULT_SCHEMA } from '../../packages/reprise/src/postgres/schema-name.js'
import { CliFixture } from '../workflow/cli-fixture.js'
import { testDatabase, type TestDatabase } from './shared-server.js'

const WORKFLOW = 'steps: [{ id: work, shell: "echo said by $WHO" }]\n'

let database: TestDatabase
let faultRun: CliFixture
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())
afterEach(() => faultRun?.remove())

test('runs of one id in two schemas and a file have logs of their own, and clean of one leaves the others', async () => {
  faultRun = new CliFixture(WORKFLOW)
  const stores = {
    a: `${database.url}?schema=team_a`,
    b: `${database.url}?schema=team_b`,
    file: 'sqlite:.reprise/ledger.db',
  }
  const at = (who: keyof typeof stores): string[] => ['--store', stores[who]]
  const names = ['a', 'b', 'file'] as const
  for (const who of names) {
    faultRun.env = { WHO: who }
    expect((await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r1', ...at(who))).code).toBe(0)
  }
  const logged = async (who: keyof typeof stores): Promise<string> => {
    const { stdout } = await faultRun.reprise('logs', 'r1', ...at(who))
    return [...stdout.matchAll(/said by (\w+)/g)].map(([, one]) => one).join()
  }
  for (const who of names) expect([who, await logged(who)]).toEqual([who, who])
  const own = readdirSync(faultRun.path('.reprise')).filter((name) => name.startsWith('postgres-'))
  expect(own).toHaveLength(2)
  for (const name of own) expect(statSync(faultRun.path(`.reprise/${name}`)).mode & 0o777).toBe(0o700)
  expect((await faultRun.reprise('clean', '--older-than', '0s', '--yes', ...at('a'))).code).toBe(0)
  expect((await faultRun.reprise('logs', 'r1', ...at('a'))).code).toBe(4)
  for (const who of ['b', 'file'] as const) expect([who, await logged(who)]).toEqual([who, who])
  expect((await faultRun.reprise('clean', '--older-than', '0s', '--yes', ...at('file'))).code).toBe(0)
  expect(await logged('b')).toBe('b')
})

test('the schema that is taken when none is named has one directory, named or not', () => {
  const bare = statePathFor(database.url, '/here')
  expect(statePathFor(`${database.url}?schema=${DEFAULT_SCHEMA}`, '/here')).toBe(bare)
})
