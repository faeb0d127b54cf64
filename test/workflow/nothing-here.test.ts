/** What somebody sees whose command finds no store, no run or no file: why, and what to type next. Needs a build. */
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { type Ended, CliFixture } from './cli-fixture.js'

let fixture: CliFixture
beforeEach(() => {
  fixture = new CliFixture('name: nightly\nsteps: [{ id: work, shell: "test -e go" }]')
})
afterEach(() => fixture.remove())

const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

describe('where nothing was ever run', () => {
  test.each([[['ps']], [['ps', '--retrying']], [['breakers', 'list']], [['budgets', 'list']]])(
    '%j says that there is no store, and which directory has one',
    async (args) => {
      const { code, stdout } = await here(...args)
      expect(code).toBe(0)
      expect(stdout).toMatch(/^There are no runs here: .*ledger\.db does not exist\.\n/)
      expect(stdout).toContain('Runs are kept in the directory where they were started')
    },
  )

  test('--json is an empty list', async () => {
    expect(JSON.parse((await here('ps', '--json')).stdout)).toEqual({ runs: [], hasTasks: false })
    expect(JSON.parse((await here('budgets', 'list', '--json')).stdout)).toEqual({ budgets: [] })
  })
})

test('a path in the place of the address of a store is answered with the address', async () => {
  const { code, stderr } = await here('ps', '--store', './runs.db')
  expect([code, stderr]).toEqual([
    2,
    'error: --store "./runs.db" is not the address of a store\n  hint: did you mean sqlite:./runs.db?\n',
  ])
})

test('a step that had one attempt does not say that every attempt failed', async () => {
  const { stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'night-1')
  expect(stderr).toContain('1 attempt: its only attempt failed (attempts_exhausted)')
  expect(stderr).toMatch(/\(1 FAILED\): step work: its only attempt failed \(attempts_exhausted\)\n$/)
})

test('resume without a name, after a run that failed, says how that run is resumed', async () => {
  await fixture.reprise('run', 'workflow.yaml', '--run-id', 'night-1')
  const { code, stderr } = await here('resume')
  expect(code).toBe(4)
  expect(stderr).toContain(
    'No run was interrupted: there is nothing to resume. The last run, night-1, has failed steps: to retry them, name the run',
  )
  expect(stderr).toMatch(
    /next: reprise .*resume .*night-1 --reset-retries|next: reprise resume night-1 --reset-retries/,
  )
})

// A link that leads to itself cannot be looked at, not even by root, whom no permission stops.
describe('a store that cannot be looked at', () => {
  beforeEach(() => {
    const file = fixture.store.slice('sqlite:'.length)
    mkdirSync(path.dirname(file), { recursive: true })
    symlinkSync(file, file)
  })

  test.each([[['ps']], [['show']], [['breakers', 'list']], [['store', 'status']]])(
    'is an error of %j, and not a store without runs',
    async (args) => {
      const { code, stdout, stderr } = await here(...args)
      expect([code, stdout]).toEqual([74, ''])
      expect(stderr).toContain('ledger.db')
    },
  )

  test('is a fault that doctor finds', async () => {
    const { code, stdout } = await here('doctor')
    expect(code).toBe(74)
    expect(stdout).not.toContain('does not exist yet')
  })
})

test('events of a type that the run has none of are answered with the types that it has', async () => {
  await fixture.reprise('run', 'workflow.yaml', '--run-id', 'night-1')
  const { code, stdout, stderr } = await here('events', '--type', 'attempt_startd')
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(
    /^Run night-1 has no event of type attempt_startd\. Its types are run_started, attempt_started, /,
  )
  expect((await here('events', '--type', 'attempt_started')).stderr).toBe('')
})

test('retry-now of a step that does not wait says what its state is', async () => {
  await fixture.reprise('run', 'workflow.yaml', '--run-id', 'night-1')
  const { code, stderr } = await here('retry-now', 'night-1', 'work')
  expect([code, stderr]).toEqual([4, 'refused: Task night-1/work is not waiting: its state is failed\n'])
})

test('a dry run says how long each attempt may take', async () => {
  fixture.write('timed.yaml', 'steps: [{ id: work, shell: "true", attempt_timeout: 30s, retry: 5 }]')
  const { stdout, stderr } = await here('run', fixture.path('timed.yaml'), '--dry-run')
  expect(stdout + stderr).toContain('5, 30s each')
})

test('the message of a store that is no database is printed to its end', async () => {
  mkdirSync(fixture.path('.reprise'))
  fixture.write('.reprise/ledger.db', 'garbage, which is longer than the header of a database has to be'.repeat(20))
  const { code, stderr } = await here('ps')
  expect(code).toBe(74)
  expect(stderr).not.toContain('…')
})
