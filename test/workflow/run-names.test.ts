/** By what a person may name a run, and which commands take the last one unless said. Needs a build. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { type Ended, CliFixture } from './cli-fixture.js'

let fixture: CliFixture
beforeEach(() => {
  fixture = new CliFixture()
  const step = { id: 'work', working_dir: fixture.directory, shell: 'echo said; test -e go' }
  fixture.write('workflow.yaml', JSON.stringify({ name: 'nightly', steps: [step] }))
})
afterEach(() => fixture.remove())

const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)
const run = (id: string): Promise<Ended> => here('run', fixture.path('workflow.yaml'), '--run-id', id)
const shown = async (...args: string[]): Promise<unknown> =>
  (JSON.parse((await here('show', ...args, '--json')).stdout) as { id: string }).id

describe('a run is meant', () => {
  test('by its id, any beginning of it that no other has, its workflow, or latest', async () => {
    await run('night-1a')
    await run('night-2b')
    expect(await shown('night-1a')).toBe('night-1a')
    expect(await shown('night-1')).toBe('night-1a')
    expect(await shown('nightly')).toBe('night-2b')
    expect(await shown('latest')).toBe('night-2b')
    // The last run is the one that was started last, not the one that was taken up last.
    fixture.write('go', '')
    expect((await here('resume', 'night-1', '--reset-retries')).code).toBe(0)
    expect(await shown('latest')).toBe('night-2b')
  })

  test('by its whole id, although others begin with it', async () => {
    await run('night')
    await run('night-2')
    expect(await shown('night')).toBe('night')
    await run('nightly')
    await run('other')
    expect(await shown('nightly')).toBe('nightly')
  })

  test('by no beginning that several have: those are listed, and nothing is done', async () => {
    for (const id of ['night-1', 'night-2', 'day-1']) await run(id)
    const { code, stderr } = await here('cancel', 'night-')
    expect(code).toBe(4)
    expect(stderr).toMatch(/^refused: The ids of 2 runs begin with night-: give more of the id\./)
    expect(stderr).toMatch(/night-2, started .*\n {2}night-1, started/)
    expect(stderr).not.toContain('day-1')
    const json = JSON.parse((await here('show', 'night-', '--json')).stdout) as unknown
    expect(json).toMatchObject({ refused: { kind: 'not_possible', next: ['reprise ps'] } })
  })

  test('by nothing that no run has, and not by the empty text', async () => {
    await run('night-1')
    for (const name of ['night-3', 'ight', 'night_', '%', '']) {
      const { code, stderr } = await here('show', name)
      expect([code, stderr]).toEqual([4, expect.stringContaining(`There is no run ${name}.`)])
    }
    expect((await here('show', 'nightli')).stderr).toContain('Did you mean nightly?')
  })

  test('not by one of its steps: `show` and `logs` then name the command with the last run', async () => {
    await run('night-1')
    for (const command of ['show', 'logs']) {
      const { code, stderr } = await here(command, 'work')
      expect(code).toBe(4)
      expect(stderr).toBe(
        'refused: There is no run work. The last run, night-1, has a step work.\n' +
          `  next: reprise ${command} latest work\n  next: reprise ps\n`,
      )
    }
    expect((await here('events', 'work')).stderr).not.toContain('latest')
  })

  test('by the commands that change something, with the whole id in what they say', async () => {
    await run('night-1')
    expect((await here('cancel', 'latest', '--json')).stdout).toContain('"run": "night-1"')
    expect((await here('retry-now', 'nig', 'work')).stderr).toContain('night-1')
    expect((await here('resume', 'night')).stderr).toContain('next: reprise resume night-1 --reset-retries')
  })
})

describe('without a run', () => {
  test('those that look take the last one', async () => {
    await run('night-1')
    await run('night-2')
    expect(await shown()).toBe('night-2')
    expect((await here('logs')).stdout).toBe('said\n')
    expect((await here('events', '--type', 'run_finished', '--json')).stdout).toContain('"status": "failed"')
    expect((await here('watch')).stderr).toContain('FAILED: nightly, run night-2')
  })

  test('those that change something want one', async () => {
    await run('night-1')
    for (const args of [['cancel'], ['retry-now']]) expect((await here(...args)).code).toBe(2)
    expect((await here('resume')).stderr).toContain('No run was interrupted')
  })

  test('a store that is empty by now says so', async () => {
    fixture.write('go', '')
    await run('night-1')
    expect((await here('clean', '--older-than', '0s', '--yes')).code).toBe(0)
    const { code, stderr } = await here('show')
    expect([code, stderr]).toEqual([4, expect.stringContaining('There are no runs yet.')])
  })
})

test('no run can be called latest', async () => {
  const { code, stderr } = await here('run', fixture.path('workflow.yaml'), '--run-id', 'latest')
  expect([code, stderr]).toEqual([2, expect.stringContaining('latest stands for the run that was started last')])
})

test('ps lists as many runs as are asked for, and refuses what is no number', async () => {
  for (const id of ['n1', 'n2', 'n3']) await run(id)
  const ids = async (...args: string[]): Promise<string[]> =>
    (JSON.parse((await here('ps', '--json', ...args)).stdout) as { runs: { id: string }[] }).runs.map(({ id }) => id)
  expect(await ids('--limit', '2')).toEqual(['n3', 'n2'])
  expect(await ids('--limit', '2', '--state', 'failed')).toEqual(['n3', 'n2'])
  expect(await ids('--limit', '9', '--last', '1h')).toEqual(['n3', 'n2', 'n1'])
  expect(await ids('--limit', '1', '--state', 'interrupted')).toEqual([])
  for (const limit of ['0', '-1', '1.5', 'all', '']) expect((await here('ps', '--limit', limit)).code).toBe(2)
})

describe('a resume that is refused after the file was edited', () => {
  test('names one command that works, whichever flags were given', async () => {
    await run('r1')
    fixture.write('go', '')
    fixture.write('workflow.yaml', 'name: nightly\nsteps: [{ id: work, shell: "echo more; test -e go" }]')
    const both = /^ {2}next: reprise resume r1 (?:--reset-retries --accept-changes|--accept-changes --reset-retries)$/gm
    for (const flags of [[], ['--reset-retries'], ['--accept-changes']]) {
      const { code, stderr } = await here('resume', 'r1', ...flags)
      expect(code).toBe(4)
      expect(stderr.match(/next:/g)).toHaveLength(1)
      expect(stderr).toMatch(both)
    }
    expect((await fixture.reprise('resume', 'r1', '--accept-changes', '--reset-retries')).code).toBe(0)
  })

  test('keeps the store, and starts the program as it was started', async () => {
    await run('r1')
    fixture.env['npm_command'] = 'exec'
    expect((await here('resume', 'r1')).stderr).toContain('next: npx reprise resume r1 --reset-retries\n')
    delete fixture.env['npm_command']
    const named = await fixture.reprise('resume', 'r1', '--store', fixture.store)
    expect(named.stderr).toContain(`next: reprise resume r1 --reset-retries`)
    expect(named.stderr.includes('--store')).toBe(fixture.env['REPRISE_STORE'] !== fixture.store)
  })
})
