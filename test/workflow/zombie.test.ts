/**
 * A process that was stopped for so long that another one took its run, and then goes on: it writes nothing, begins
 * nothing, says so, and the run is completed once. Needs a build.
 */
import { afterEach, expect, test } from 'vitest'
import { type Going, CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const WORK = `
steps:
  - { id: before, shell: echo x >> before }
  - id: work
    shell: echo x >> work; until test -e go; do sleep 0.02; done; echo "$REPRISE_ATTEMPT"
    retry: { attempts: 3 }
    capture: number
  - { id: after, shell: "echo \${number} >> after" }
`

/** All that is recorded, but for who lives. */
async function recorded(): Promise<unknown> {
  return fixture.ledger(async (ledger) => {
    const tasks = await ledger.list({ scopeKind: 'run', scope: 'r1' })
    return {
      run: await ledger.run('r1'),
      tasks,
      attempts: await Promise.all(tasks.map((task) => ledger.attempts(task))),
      events: await ledger.events(0, 10_000, { scopeKind: 'run', scope: 'r1' }),
      gates: await ledger.gates(),
    }
  })
}

async function stopped(workflow: string, when: () => boolean | Promise<boolean>): Promise<Going> {
  fixture = new CliFixture(workflow)
  const zombie = fixture.start(...RUN)
  await until(when, () => `the moment; it said ${zombie.said()}`, zombie)
  zombie.child.kill('SIGSTOP')
  const refused = await fixture.reprise('resume', 'r1')
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining(String(zombie.child.pid))])
  return zombie
}

async function expectGivenUp(zombie: Going): Promise<void> {
  const { code, stderr } = await zombie.ended
  expect([code, stderr]).toEqual([4, expect.stringContaining('taken over by another process')])
  expect(stderr).not.toContain('at ')
}

test('when the run has been completed, it changes nothing', async () => {
  const zombie = await stopped(WORK, () => fixture.count('work') === 1)
  const heir = fixture.start('resume', 'r1', '--force')
  await until(
    () => fixture.count('work') === 2,
    () => `the heir's start; it said ${heir.said()}`,
    heir,
  )
  fixture.write('go', '')
  expect((await heir.ended).code).toBe(0)
  const before = await recorded()
  zombie.child.kill('SIGCONT')
  await expectGivenUp(zombie)
  expect(await recorded()).toEqual(before)
  expect([fixture.count('before'), fixture.count('work'), fixture.read('after')]).toEqual([1, 2, '1\n'])
  expect((await fixture.show('r1')).state).toBe('succeeded')
  expect(fixture.left()).toEqual([])
})

test('while another one conducts it, it leaves that and its processes alone', async () => {
  const zombie = await stopped(WORK, () => fixture.count('work') === 1)
  const heir = fixture.start('resume', 'r1', '--force')
  await until(
    () => fixture.count('work') === 2,
    () => `the heir's start; it said ${heir.said()}`,
    heir,
  )
  zombie.child.kill('SIGCONT')
  await expectGivenUp(zombie)
  fixture.write('go', '')
  expect((await heir.ended).code).toBe(0)
  expect([fixture.count('before'), fixture.count('work'), fixture.read('after')]).toEqual([1, 2, '1\n'])
  const history = (await fixture.show('r1')).steps[1]?.history ?? []
  expect(history.map(({ attempt, execution, outcome }) => [attempt, execution, outcome])).toEqual([
    [1, 1, 'interrupted'],
    [1, 2, 'success'],
  ])
  expect(fixture.left()).toEqual([])
})

test('in a wait that is over by then, it does not make the attempt', async () => {
  const workflow = `
steps:
  - id: work
    shell: echo x >> work; test -e go
    retry: { attempts: 3, backoff: fixed, initial_delay: 1s }
  - { id: after, shell: echo x >> after; until test -e end; do sleep 0.02; done }
`
  const zombie = await stopped(workflow, () => fixture.waits('work', 1))
  fixture.write('go', '')
  const heir = fixture.start('resume', 'r1', '--force')
  await until(
    () => fixture.count('after') === 1,
    () => `the heir to come so far; it said ${heir.said()}`,
    heir,
  )
  zombie.child.kill('SIGCONT')
  await expectGivenUp(zombie)
  fixture.write('end', '')
  expect((await heir.ended).code).toBe(0)
  expect([fixture.count('work'), fixture.count('after')]).toEqual([2, 1])
})
