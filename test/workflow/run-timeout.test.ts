/** `timeout` of a run: what it ends, what still runs, and what a resume makes of it. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { onBothStores } from './both-stores.js'
import { CliFixture } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

/** `main`: the text of its first step. */
const WORKFLOW = (timeout: string, main: string, more = ''): string => `
timeout: ${timeout}
steps:
  - { id: main, shell: ${JSON.stringify(main)}${more} }
  - { id: later, shell: echo later >> ran }
on_failure: [{ id: tell, shell: 'echo "\${run.failed_step}: \${run.error}" >> told' }]
finally: [{ id: clean, shell: echo clean >> ran }]
`

onBothStores('the timeout of a run', () => {
  test('ends the step that runs; on_failure and finally run, and the run has failed for that', async () => {
    cli = new CliFixture(WORKFLOW('2s', 'echo main >> ran; sleep 60'))
    const { code, stderr } = await cli.reprise(...RUN)
    expect(code, stderr).toBe(1)
    expect([cli.read('ran'), cli.read('told')]).toEqual(['main\nclean\n', 'main: the run has reached its timeout\n'])
    const { state, stopReason, failedStep } = await cli.show('r1')
    expect([state, stopReason, failedStep]).toEqual(['failed', 'timeout', 'main'])
    const said = 'step main: the run has reached its timeout (timeout)'
    expect(stderr).toContain(said)
    expect(stderr).toContain('next: reprise resume r1 --reset-retries')
    expect((await cli.reprise('show', 'r1')).stdout).toContain(said)
    const refused = await cli.reprise('resume', 'r1')
    expect(refused.stderr).toContain(
      'refused: Run r1 has reached its timeout.\n  next: reprise resume r1 --reset-retries',
    )
    await cli.isClean()
  })

  test('ends a wait between two attempts', async () => {
    cli = new CliFixture(WORKFLOW('3s', 'exit 3', ', retry: { attempts: 2, initial_delay: 1h, max_delay: 1h }'))
    const { code } = await cli.reprise(...RUN)
    expect(code).toBe(1)
    expect((await cli.show('r1')).stopReason).toBe('timeout')
    expect(cli.read('ran')).toBe('clean\n')
    // Nothing of it waits any more.
    expect(JSON.parse((await cli.reprise('ps', '--retrying', '--json')).stdout).retrying).toEqual([])
  })

  test.each([
    ['resume', ['resume', 'r1', '--reset-retries']],
    ['rerun', ['rerun', 'r1', '--from', 'main']],
  ])('reached again after a %s with fresh attempts, on_failure and finally run again too', async (_name, command) => {
    cli = new CliFixture(WORKFLOW('2s', 'echo main >> ran; sleep 60'))
    expect((await cli.reprise(...RUN)).code).toBe(1)
    const { code, stderr } = await cli.reprise(...command)
    expect(code, stderr).toBe(1)
    expect(cli.read('ran')).toBe('main\nclean\n'.repeat(2))
    expect(cli.read('told')).toBe('main: the run has reached its timeout\n'.repeat(2))
    const { state, stopReason, failedStep } = await cli.show('r1')
    expect([state, stopReason, failedStep]).toEqual(['failed', 'timeout', 'main'])
  })
})

test('time in which no process conducted the run counts too, and a resume begins no further step', async () => {
  cli = new CliFixture(WORKFLOW('1h', 'echo main >> ran; test -e go || sleep 60'))
  await cli.killed(RUN, () => cli.count('ran') === 1)
  // As if it had begun two hours ago.
  await cli.ledger(async (ledger) => {
    await ledger.transact({ tasks: [], runs: ['r1'] }, (view) => {
      const run = view.run('r1')
      if (run === undefined) throw new Error('there is no run')
      const detail = { ...(run.detail as Record<string, never>), timedFromMs: run.createdAtMs - 7_200_000 }
      return { runs: [{ run: { ...run, detail } }], result: undefined }
    })
  })
  const preview = await cli.reprise('resume', 'r1', '--dry-run')
  expect(preview.stdout).toContain('the run has reached its `timeout`: no further step begins')
  const { code, stderr } = await cli.reprise('resume', 'r1')
  expect(code, stderr).toBe(1)
  expect(cli.read('ran')).toBe('main\nclean\n')
  const refused = await cli.reprise('resume', 'r1')
  expect(refused.code).toBe(4)
  // Fresh attempts have the whole time again.
  cli.write('go', '')
  const again = await cli.reprise('resume', 'r1', '--reset-retries')
  expect(again.code, again.stderr).toBe(0)
  expect(cli.read('ran')).toBe('main\nclean\nmain\nlater\nclean\n')
})

test('a map is ended too, and a step of finally has all the time it needs', async () => {
  cli = new CliFixture(`
timeout: 2s
steps:
  - { id: all, map: { input: [a, b, c], max_parallel: 1, agent_template: [{ shell: 'echo \${item} >> ran; sleep 60' }] } }
finally: [{ id: clean, shell: sleep 3; echo clean >> ran }]
`)
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(1)
  expect(cli.read('ran')).toBe('a\nclean\n')
  expect((await cli.show('r1')).stopReason).toBe('timeout')
  await cli.isClean()
})

test('a run that ends in time is not touched by it', async () => {
  cli = new CliFixture(WORKFLOW('1h', 'true'))
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  const plan = JSON.parse((await cli.reprise('run', 'workflow.yaml', '--dry-run', '--json')).stdout)
  expect(plan.timeoutMs).toBe(3_600_000)
})
