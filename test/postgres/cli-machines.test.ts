/**
 * Runs on a server that many machines share: killed on one and resumed on another, which cannot see its processes; two
 * resumes at once; runs that share a budget and a breaker. Another machine is another name of the host and another
 * directory. Needs a build.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bin, type Going, keepIn, CliFixture, until } from '../workflow/cli-fixture.js'
import { testDatabase, type TestDatabase } from './shared-server.js'

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const ELSEWHERE = `
import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
os.hostname = () => 'elsewhere'
syncBuiltinESMExports()
`
const WORK = `
steps:
  - id: before
    shell: echo x >> "$NOTES/before"; echo 41
    capture: number
  - id: work
    shell: echo said-$$; echo "$REPRISE_ATTEMPT" >> "$NOTES/work"; until test -e "$NOTES/go"; do sleep 0.02; done
  - id: after
    shell: echo "\${number}" >> "$NOTES/after"
`

let database: TestDatabase
let faultRun: CliFixture
beforeAll(async () => {
  database = await testDatabase()
  keepIn(database.url)
})
afterAll(() => database.drop())
afterEach(() => faultRun.remove())

function enter(workflow: string): void {
  faultRun = new CliFixture(workflow)
  // The same for both machines, so that it is known from outside what happened.
  faultRun.env['NOTES'] = faultRun.directory
  faultRun.write('elsewhere.mjs', ELSEWHERE)
}

/** The command on a machine of another name. */
function elsewhere(...args: string[]): Going {
  const preload = pathToFileURL(faultRun.path('elsewhere.mjs')).href
  return faultRun.startProgram(process.execPath, ['--import', preload, bin, ...args])
}

async function killedElsewhere(): Promise<void> {
  enter(WORK)
  const going = elsewhere(...RUN)
  await until(
    () => faultRun.count('work') === 1,
    () => `the step; it said ${going.said()}`,
    going,
  )
  going.child.kill('SIGKILL')
  await going.ended
}

/** As if so much time had passed since it last said anything. */
async function silentFor(ms: number): Promise<void> {
  await faultRun.ledger(async (ledger) => {
    for (const owner of await ledger.owners())
      await ledger.heartbeat({ ...owner, leaseUntilMs: owner.leaseUntilMs - ms })
  })
}

/** Of the working directory, on a machine that has the file of the workflow and nothing else. */
function inAnotherDirectory(...args: string[]): Going {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-machine-'))
  cpSync(faultRun.path('workflow.yaml'), path.join(directory, 'workflow.yaml'))
  const going = faultRun.startProgram('sh', ['-c', 'cd "$0" && exec "$@"', directory, process.execPath, bin, ...args])
  const ended = going.ended.finally(() => rmSync(directory, { recursive: true, force: true }))
  return { ...going, ended }
}

describe('a run that was killed on another machine', () => {
  test('is waited for until its lease is over, which is said; then it goes on where it was', async () => {
    await killedElsewhere()
    const refused = await faultRun.reprise('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toMatch(/being executed by process \d+ on elsewhere since \S+\. .* runs out in \d+ s\./)
    expect(refused.stderr).toContain('reprise resume r1 --force')
    expect(JSON.parse((await faultRun.reprise('ps', '--json')).stdout)).toMatchObject({ runs: [{ state: 'running' }] })
    expect(faultRun.count('work')).toBe(1)
    await silentFor(31_000)
    faultRun.write('go', '')
    const resumed = await faultRun.reprise('resume', 'r1')
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('succeeded')])
    expect([faultRun.count('before'), faultRun.read('work'), faultRun.read('after')]).toEqual([1, '1\n1\n', '41\n'])
    expect(await faultRun.historyOf('work')).toEqual([
      [1, 1, 'interrupted'],
      [1, 2, 'success'],
    ])
  })

  test('is taken at once with --force, from a directory that knows nothing of it; its logs are where it ran', async () => {
    await killedElsewhere()
    faultRun.write('go', '')
    const { code, stderr } = await inAnotherDirectory('resume', 'r1', '--force').ended
    expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
    expect([faultRun.count('before'), faultRun.count('work'), faultRun.count('after')]).toEqual([1, 2, 1])
    const here = await faultRun.reprise('logs', 'r1')
    // This machine has not conducted it at all, though the directory is the one of the other.
    expect(here.stderr).toContain(`ran on elsewhere, and their logs are there: in ${faultRun.path('.reprise')}`)
    const { elsewhere: places } = JSON.parse((await faultRun.reprise('logs', 'r1', '--json')).stdout) as {
      elsewhere: { host: string; stateDirectory: string }[]
    }
    expect(places.map(({ host }) => host)[0]).toBe('elsewhere')
    expect(places).toHaveLength(2)
    const nowhere = await inAnotherDirectory('logs', 'r1').ended
    expect([nowhere.code, nowhere.stdout]).toEqual([0, ''])
    expect(nowhere.stderr).toContain('No log is here.')
  })
})

test('of two resumes at once one goes on, and the other is refused with who has it', async () => {
  enter(WORK)
  await faultRun.killed(RUN, () => faultRun.count('work') === 1)
  const both = [faultRun.start('resume', 'r1'), faultRun.start('resume', 'r1')]
  await until(
    () => both.some(({ child }) => child.exitCode !== null) && faultRun.count('work') === 2,
    () => `one to be refused; they said ${both.map((one) => one.said()).join('')}`,
  )
  const ended = both.find(({ child }) => child.exitCode !== null)
  expect(await ended?.ended).toMatchObject({ code: 4 })
  faultRun.write('go', '')
  const codes = await Promise.all(both.map(async (one) => (await one.ended).code))
  expect(codes.map(String).toSorted()).toEqual(['0', '4'])
  expect([faultRun.count('before'), faultRun.count('work'), faultRun.count('after')]).toEqual([1, 2, 1])
})

describe('runs at the same time', () => {
  test('share a budget: together they take no more tokens than it has', async () => {
    enter(`
budgets: { api: { type: token_bucket, capacity: 5, refill_per_second: 0.0001 } }
steps:
  - { id: work, shell: echo x >> ran; exit 1, retry: { attempts: 9, backoff: fixed, initial_delay: 10ms, budget: api } }
`)
    const ids = ['r1', 'r2', 'r3', 'r4']
    const ended = await Promise.all(ids.map((id) => faultRun.reprise('run', 'workflow.yaml', '--run-id', id)))
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1, 1])
    expect(faultRun.count('ran')).toBe(5)
    const { budgets } = JSON.parse((await faultRun.reprise('budgets', 'list', '--json')).stdout) as {
      budgets: { name: string }[]
    }
    expect(budgets.map(({ name }) => name)).toEqual(['api'])
    // More is more for all.
    expect((await faultRun.reprise('budgets', 'grant', 'api', '--amount', '2')).code).toBe(0)
    expect((await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r5')).code).toBe(1)
    expect(faultRun.count('ran')).toBe(7)
  })

  test('share a breaker: what one has found to be down, the others do not try', async () => {
    enter(`
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
steps:
  - { id: work, shell: echo x >> ran; test -e up, retry: { attempts: 9, backoff: fixed, initial_delay: 10ms, breaker: db } }
`)
    expect((await faultRun.reprise(...RUN)).code).toBe(1)
    expect(faultRun.count('ran')).toBe(2)
    const others = await Promise.all(['r2', 'r3'].map((id) => faultRun.reprise('run', 'workflow.yaml', '--run-id', id)))
    expect(others.map(({ code }) => code)).toEqual([1, 1])
    expect(others[0]?.stderr).toContain('breaker')
    expect(faultRun.count('ran')).toBe(2)
    expect((await faultRun.reprise('breakers', 'list')).stdout).toMatch(/db\s+open/)
    expect((await faultRun.reprise('breakers', 'reset', 'db', '--reason', 'it is back')).code).toBe(0)
    faultRun.write('up', '')
    expect((await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r4')).code).toBe(0)
  })
})

test('one command that is kept on a server is run once, from wherever it is asked for', async () => {
  enter('steps: []')
  const command = ['exec', '--durable', 'job-7', '--attempts', '3', '--initial-delay', '10ms', '--', 'sh', '-c']
  const script = 'echo x >> "$NOTES/ran"; test "$(wc -l < "$NOTES/ran")" -ge 2'
  expect((await faultRun.reprise(...command, script)).code).toBe(0)
  expect(faultRun.count('ran')).toBe(2)
  const again = await elsewhere(...command, script).ended
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('it is not run again')])
  expect(faultRun.count('ran')).toBe(2)
  const other = await elsewhere(...command, 'true').ended
  expect([other.code, other.stderr]).toEqual([4, expect.stringContaining('another command or policy')])
})
