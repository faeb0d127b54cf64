/**
 * A machine whose clock is hours from the server's: what is shown goes by the server's, which decides. The clock of the
 * command line is moved by a module that Node loads first. Needs a build.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CliFixture } from '../workflow/cli-fixture.js'
import { testDatabase, type TestDatabase } from './shared-server.js'

const WORKFLOW = `
steps:
  - { id: first, shell: echo x >> first }
  - id: second
    shell: exit 1
    retry: { attempts: 3, backoff: fixed, initial_delay: 30m, max_delay: 30m }
`

let database: TestDatabase
let faultRun: CliFixture
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())
afterEach(() => faultRun.remove())

function enter(): void {
  faultRun = new CliFixture(WORKFLOW)
  faultRun.env = { REPRISE_STORE: `${database.url}?schema=clock` }
}

/** The clock of every command from here on. */
function moveClock(hours: number): void {
  faultRun.write('moved.cjs', `const now = Date.now.bind(Date); Date.now = () => now() + ${hours} * 3_600_000\n`)
  faultRun.env['NODE_OPTIONS'] = `--require ${faultRun.path('moved.cjs')}`
}

test('ages, --last and the time to the next attempt are by the clock of the ledger', async () => {
  enter()
  await faultRun.killed(['run', 'workflow.yaml', '--run-id', 'r1'], async () => {
    const { stdout } = await faultRun.reprise('ps', '--retrying', '--json')
    return stdout.includes('"second"')
  })
  for (const hours of [5, -5]) {
    moveClock(hours)
    const recent = await faultRun.reprise('ps', '--last', '1h')
    expect(recent.stdout).toMatch(/r1 .* (now|\d+s ago|[1-4]m ago)/)
    expect((await faultRun.reprise('show', 'r1')).stdout).not.toMatch(/[45]h/)
    const { stdout } = await faultRun.reprise('resume', 'r1', '--dry-run')
    expect(stdout).toMatch(/waiting .*second.* in (30m|2\dm)/)
  }
})
