/** What somebody sees whose command finds no store, no run or no file: why, and what to type next. Needs a build. */
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { repriseHere } from './here.js'
import { type Ended, Scene } from './scene.js'

let scene: Scene
beforeEach(() => {
  scene = new Scene('name: nightly\nsteps: [{ id: work, shell: "test -e go" }]')
})
afterEach(() => scene.remove())

const here = (...args: string[]): Promise<Ended> => repriseHere(scene, ...args)

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
    expect(JSON.parse((await here('ps', '--json')).stdout)).toEqual({ runs: [] })
    expect(JSON.parse((await here('budgets', 'list', '--json')).stdout)).toEqual({ budgets: [] })
  })
})

test('resume without a name, after a run that failed, says how that run is resumed', async () => {
  await scene.reprise('run', 'workflow.yaml', '--run-id', 'night-1')
  const { code, stderr } = await here('resume')
  expect(code).toBe(4)
  expect(stderr).toContain(
    'No run was interrupted: there is nothing to resume. The last run, night-1, has failed steps',
  )
  expect(stderr).toMatch(
    /next: reprise .*resume .*night-1 --reset-retries|next: reprise resume night-1 --reset-retries/,
  )
})

// A link that leads to itself cannot be looked at, not even by root, whom no permission stops.
describe('a store that cannot be looked at', () => {
  beforeEach(() => {
    const file = scene.store.slice('sqlite:'.length)
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
