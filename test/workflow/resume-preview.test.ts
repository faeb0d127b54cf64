/** What a resume says that it will do is what it does, whatever a step asks for when it is interrupted. Needs a build. */
import type { ResumePreview } from '@reprise/workflow/internal'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

/** The first step is done, the second in flight. */
async function killedWith(rule: string): Promise<void> {
  scene = new CliFixture(`
steps:
  - { id: first, shell: echo x }
  - { id: second, shell: "echo x >> ran; test -e go || sleep 60", ${rule} }
`)
  await scene.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.count('ran') === 1)
  scene.write('go', '')
}

async function preview(...options: string[]): Promise<ResumePreview> {
  const { stdout } = await scene.reprise('resume', 'r1', '--dry-run', '--json', ...options)
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
  expect((await scene.reprise('resume', 'r1')).code).toBe(4)
  expect(await preview('--rerun', 'second')).toMatchObject({ kept: 1, rerun: again, warnings: [] })
  expect(await preview('--done', 'second')).toMatchObject({ kept: 2, rerun: [], waiting: [], warnings: [] })
  expect(scene.count('ran')).toBe(1)
})

test('a step that is looked into is said to be', async () => {
  await killedWith('on_interrupt: { verify: "true" }')
  expect(await preview()).toMatchObject({ kept: 1, rerun: [], waiting: [] })
  expect((await preview()).warnings).toEqual(['step second was interrupted: its `verify` command looks first'])
})

test('an attempt whose budget has expired meanwhile is said to be denied, and is', async () => {
  scene = new CliFixture(`
steps:
  - id: second
    shell: "echo x >> ran; test $REPRISE_ATTEMPT -gt 1 || exit 1; sleep 60"
    retry: { attempts: 3, initial_delay: 10ms, retry_budget: 2s }
`)
  await scene.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.count('ran') === 2)
  await expect
    .poll(async () => (await preview()).denied, { timeout: 20_000 })
    .toEqual([{ step: 'second', reason: 'retry_budget_exhausted' }])
  expect(await preview()).toMatchObject({ rerun: [], waiting: [] })
  expect((await scene.reprise('resume', 'r1')).code).toBe(1)
  expect(scene.count('ran')).toBe(2)
})

test('attempts that a policy does not count are those of the default policy', async () => {
  await killedWith('retry: { initial_delay: 10s }')
  expect((await preview()).rerun).toEqual([{ step: 'second', attempt: 1, of: 3 }])
  const waiting = 'steps: [{ id: a, shell: exit 1 }, { id: b, shell: x, retry: { jitter: full } }]'
  scene.write('other.yaml', waiting)
  await scene.reprise('run', 'other.yaml', '--run-id', 'r2')
  expect((await scene.show('r2')).steps.map(({ attemptsAllowed }) => attemptsAllowed)).toEqual([1, 3])
})
