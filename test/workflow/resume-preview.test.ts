/** What a resume says that it will do is what it does, whatever a step asks for when it is interrupted. Needs a build. */
import type { ResumePreview } from '@reprise/workflow/internal'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, type Ended } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** Within this process: what the command does to the run, and says, is the same. */
const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

/** The first step is done, the second in flight. */
async function killedWith(rule: string): Promise<void> {
  fixture = new CliFixture(`
steps:
  - { id: first, shell: echo x }
  - { id: second, shell: "echo x >> ran; test -e go || sleep 60", ${rule} }
`)
  await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 1)
  fixture.write('go', '')
}

async function preview(...options: string[]): Promise<ResumePreview> {
  const { stdout } = await here('resume', 'r1', '--dry-run', '--json', ...options)
  return (JSON.parse(stdout) as { preview: ResumePreview }).preview
}

const again = [{ step: 'second', attempt: 1, of: 1 }]

test('a step that is rerun is named with its number', async () => {
  await killedWith('on_interrupt: rerun')
  expect(await preview()).toMatchObject({ kept: 1, rerun: again, waiting: [], warnings: [] })
})

test('a step that is left to a person is not said to run again, unless the person said so', async () => {
  await killedWith('on_interrupt: fail')
  expect(await preview()).toMatchObject({ kept: 1, rerun: [], waiting: [] })
  expect((await preview()).warnings).toEqual(['step second was interrupted: `on_interrupt: fail` leaves it to you'])
  expect((await here('resume', 'r1')).code).toBe(4)
  expect(await preview('--rerun', 'second')).toMatchObject({ kept: 1, rerun: again, warnings: [] })
  expect(await preview('--done', 'second')).toMatchObject({ kept: 2, rerun: [], waiting: [], warnings: [] })
  expect(fixture.count('ran')).toBe(1)
})

test('a step that is looked into is said to be', async () => {
  await killedWith('on_interrupt: { verify: "true" }')
  expect(await preview()).toMatchObject({ kept: 1, rerun: [], waiting: [] })
  expect((await preview()).warnings).toEqual(['step second was interrupted: its `verify` command looks first'])
})

test('an attempt whose budget has expired meanwhile is said to be denied, and is', async () => {
  fixture = new CliFixture(`
steps:
  - id: second
    shell: "echo x >> ran; test $REPRISE_ATTEMPT -gt 1 || exit 1; sleep 60"
    retry: { attempts: 3, initial_delay: 10ms, retry_budget: 2s }
`)
  await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 2)
  await expect
    .poll(async () => (await preview()).denied, { timeout: 20_000 })
    .toEqual([{ step: 'second', reason: 'retry_budget_exhausted' }])
  expect(await preview()).toMatchObject({ rerun: [], waiting: [] })
  expect((await here('resume', 'r1')).code).toBe(1)
  expect(fixture.count('ran')).toBe(2)
})

test('attempts that a policy does not count are those of the default policy', async () => {
  await killedWith('retry: { initial_delay: 10s }')
  expect((await preview()).rerun).toEqual([{ step: 'second', attempt: 1, of: 3 }])
  const waiting = 'steps: [{ id: a, shell: exit 1 }, { id: b, shell: x, retry: { jitter: full } }]'
  fixture.write('other.yaml', waiting)
  await fixture.reprise('run', 'other.yaml', '--run-id', 'r2')
  expect((await fixture.show('r2')).steps.map(({ attemptsAllowed }) => attemptsAllowed)).toEqual([1, 3])
})
