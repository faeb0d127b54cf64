/** Groups of runs, of which one is conducted at a time: several processes at once, kills, cancels and signals. Needs a build. */
import { afterEach, describe, expect, test } from 'vitest'
import { mkdirSync } from 'node:fs'
import { loadWorkflow, runWorkflow } from '@reprise/workflow'
import { type Json, openDurable } from 'reprise/durable'
import { onBothStores } from './both-stores.js'
import { CliFixture, type Going, until } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const run = (id: string, ...more: string[]): string[] => ['run', 'workflow.yaml', '--run-id', id, ...more]

/** Notes each run that works; fails if another one works at the same time. Works until there is a file `go`. */
const WORKFLOW = (concurrency: string): string => `
concurrency: ${concurrency}
params: { region: eu }
steps:
  - id: work
    shell: mkdir busy; echo "\${run.id}" >> began; until test -e go; do sleep 0.05; done; sleep 0.1; rmdir busy
finally: [{ id: clean, shell: 'echo "\${run.id} cleaned" >> began' }]
`

/** Works until there is a file `go`, and then cleans up until there is a file `cleaned`. */
const SLOW_TO_CLEAN = `
concurrency: { group: deploy, on_conflict: cancel_old }
steps: [{ id: work, shell: 'echo "\${run.id}" >> began; until test -e go; do sleep 0.05; done' }]
finally:
  - id: clean
    shell: echo "\${run.id} cleans" >> began; until test -e cleaned; do sleep 0.05; done; echo "\${run.id} cleaned" >> began
`

/** Stops a run as soon as it waits; with `cancel_old` it has dealt with the holder before it ends. */
async function stopWaiting(going: Going, holder: string): Promise<void> {
  await until(
    () => going.said().includes(`Waiting for run ${holder}`),
    () => `it to wait for ${holder}: ${going.said()}`,
  )
  going.child.kill('SIGINT')
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([130, expect.stringContaining('Stopped before any step was begun.')])
}

onBothStores('a group of runs', () => {
  test('has one run of several that are begun at once, and refuses the others', async () => {
    cli = new CliFixture(WORKFLOW('deploy'))
    // The store is there, so that all of them come to the group.
    await cli.reprise('run', '--run-id', 'first', cli.write('first.yaml', 'steps: [{ shell: "true" }]'))
    const going = ['r1', 'r2', 'r3', 'r4'].map((id) => cli.start(...run(id)))
    const ended = going.map(({ ended: end }) => end)
    const refused: number[] = []
    for (const end of ended) void end.then(({ code }) => refused.push(code ?? -1))
    await until(
      () => refused.length === 3 && cli.count('began') === 1,
      () => `one to work and three to be refused: ${refused.join()}; ${going.map((one) => one.said()).join()}`,
    )
    expect(refused).toEqual([4, 4, 4])
    cli.write('go', '')
    const ends = await Promise.all(ended)
    expect(ends.filter(({ code }) => code === 0)).toHaveLength(1)
    expect(ends.find(({ code }) => code === 4)?.stderr).toMatch(/Group deploy is held by run r\d/)
    // Of those that were refused nothing is recorded, and the group is free.
    const { runs } = JSON.parse((await cli.reprise('ps', '--json')).stdout) as { runs: unknown[] }
    expect(runs).toHaveLength(2)
    expect((await cli.reprise(...run('r5'))).code).toBe(0)
  })

  test('lets runs that wait work one after the other', async () => {
    cli = new CliFixture(WORKFLOW('{ group: deploy, on_conflict: wait }'))
    const going = ['r1', 'r2', 'r3'].map((id) => cli.start(...run(id)))
    await until(
      () => going.filter((one) => one.said().includes('which has the group deploy')).length === 2,
      () => `two to wait: ${going.map((one) => one.said()).join()}`,
    )
    await until(
      () => cli.count('began') === 1,
      () => 'one to work',
    )
    cli.write('go', '')
    const ends = await Promise.all(going.map(({ ended }) => ended))
    expect(ends.map(({ code, stderr }) => [code, stderr.includes('FAILED')])).toEqual([
      [0, false],
      [0, false],
      [0, false],
    ])
    // Each has ended, with its steps of finally, before the next one began.
    const told = cli.read('began').trim().split('\n')
    for (let at = 0; at < told.length; at += 2) expect(told[at + 1]).toBe(`${told[at]} cleaned`)
  })

  test('is free as soon as the process of its run is killed, and that run waits its turn', async () => {
    cli = new CliFixture(WORKFLOW('deploy').replace('mkdir busy; ', '').replace('; rmdir busy', ''))
    await cli.killed(run('r1'), () => cli.count('began') === 1)
    const going = await cli.startUntil(run('r2'), () => cli.count('began') === 2)
    const refused = await cli.reprise('resume', 'r1')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('Group deploy is held by run r2')])
    cli.write('go', '')
    expect((await going.ended).code).toBe(0)
    const { code, stderr } = await cli.reprise('resume', 'r1')
    expect(code, stderr).toBe(0)
    expect(cli.read('began')).toBe('r1\nr2\nr2 cleaned\nr1\nr1 cleaned\n')
  })

  test('is taken over from the run before, which is cancelled and comes to its end first', async () => {
    cli = new CliFixture(
      WORKFLOW('{ group: deploy, on_conflict: cancel_old }')
        .replace('mkdir busy; ', 'trap "sleep 1; exit 1" TERM; ')
        .replace('; rmdir busy', ''),
    )
    const old = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    const next = await cli.startUntil(run('r2'), () => cli.read('began').includes('r2\n'))
    expect((await old.ended).code).toBe(1)
    expect(cli.read('began')).toBe('r1\nr1 cleaned\nr2\n')
    expect((await cli.show('r1')).state).toBe('cancelled')
    cli.write('go', '')
    expect((await next.ended).code).toBe(0)
  })

  test('is taken over once the old run has cleaned up, however many ask for it', async () => {
    cli = new CliFixture(SLOW_TO_CLEAN)
    const old = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    const next = await cli.startUntil(run('r2'), () => cli.read('began').includes('r1 cleans\n'))
    await stopWaiting(cli.start(...run('r3')), 'r1')
    cli.write('cleaned', '')
    expect((await old.ended).code).toBe(1)
    const { state, steps } = await cli.show('r1')
    expect([state, steps.find(({ id }) => id === 'clean')?.state]).toEqual(['cancelled', 'succeeded'])
    await until(
      () => cli.read('began').endsWith('r2\n'),
      () => `r2 to work: ${next.said()}`,
    )
    cli.write('go', '')
    expect((await next.ended).code).toBe(0)
    expect(cli.read('began')).toBe('r1\nr1 cleans\nr1 cleaned\nr2\nr2 cleans\nr2 cleaned\n')
  })

  test('is left to a run that has ended its steps', async () => {
    cli = new CliFixture(SLOW_TO_CLEAN)
    cli.write('go', '')
    const old = await cli.startUntil(run('r1'), () => cli.read('began').includes('r1 cleans\n'))
    await stopWaiting(cli.start(...run('r2')), 'r1')
    cli.write('cleaned', '')
    expect((await old.ended).code).toBe(0)
    expect((await cli.show('r1')).state).toBe('succeeded')
  })

  test('is not taken from a run that asked for it later', async () => {
    cli = new CliFixture(SLOW_TO_CLEAN)
    const old = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    const early = await cli.startUntil(run('r2'), () => cli.read('began').includes('r1 cleans\n'))
    const late = cli.start(...run('r3'))
    await until(
      () => late.said().includes('Waiting for run r1'),
      () => `r3 to wait: ${late.said()}`,
    )
    early.child.kill('SIGSTOP')
    cli.write('cleaned', '')
    await old.ended
    await until(
      () => cli.read('began').endsWith('r3\n'),
      () => `r3 to work: ${late.said()}`,
    )
    early.child.kill('SIGCONT')
    await stopWaiting(early, 'r3')
    cli.write('go', '')
    const { code, stderr } = await late.ended
    expect(code, stderr).toBe(0)
  })

  test('is taken over from a run that has only just taken it, and is recorded later', async () => {
    cli = new CliFixture(SLOW_TO_CLEAN)
    mkdirSync(cli.path('.reprise'))
    const durable = await openDurable(cli.store)
    try {
      const owner = await cli.ledger(async (ledger) => (await ledger.owners())[0]?.id ?? '')
      expect(owner).not.toBe('')
      const key = 'record:run-group/deploy'
      const hold = (holder: Json): Promise<void> =>
        cli.ledger((ledger) =>
          ledger.transact({ tasks: [], gates: [key] }, () => ({
            gates: [{ key, kind: 'record' as const, state: { holder } }],
            result: undefined,
          })),
        )
      await hold({ run: 'r1', owner })
      const next = cli.start(...run('r2'))
      await until(
        () => next.said().includes('Waiting for run r1'),
        () => `r2 to wait: ${next.said()}`,
      )
      // It has looked for the record of the run in vain by now, or finds it at its first look.
      await durable.runs.start({ id: 'r1', kind: 'test', name: 'old', definition: null, fingerprint: 'x' })
      await until(
        async () => (await durable.runs.find('r1')).record.status === 'cancelled',
        () => `r1 to be cancelled: ${next.said()}`,
      )
      await hold(null)
      cli.write('go', '')
      cli.write('cleaned', '')
      expect((await next.ended).code).toBe(0)
    } finally {
      await durable.close()
    }
  })
})

describe('a run of a group', () => {
  test('that is told to stop while it waits has begun nothing', async () => {
    cli = new CliFixture(WORKFLOW('{ group: deploy, on_conflict: wait }'))
    const holder = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    const waiting = cli.start(...run('r2'))
    await until(
      () => waiting.said().includes('Waiting for run r1'),
      () => `r2 to wait: ${waiting.said()}`,
    )
    waiting.child.kill('SIGINT')
    const { code, stderr } = await waiting.ended
    expect([code, stderr]).toEqual([130, expect.stringContaining('Stopped before any step was begun.')])
    expect((await cli.reprise('show', 'r2')).code).toBe(4)
    cli.write('go', '')
    expect((await holder.ended).code).toBe(0)
  })

  test('that was stopped by a signal does not hold it', async () => {
    cli = new CliFixture(WORKFLOW('deploy').replace('mkdir busy; ', '').replace('; rmdir busy', ''))
    const first = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(130)
    cli.write('go', '')
    expect((await cli.reprise(...run('r2'))).code).toBe(0)
    expect((await cli.reprise('resume', 'r1')).code).toBe(0)
  })

  test('has another group with another parameter', async () => {
    cli = new CliFixture(
      WORKFLOW('"deploy-${region}"')
        .replace('mkdir busy', 'mkdir "busy-${region}"')
        .replace('rmdir busy', 'rmdir "busy-${region}"'),
    )
    const eu = await cli.startUntil(run('r1'), () => cli.count('began') === 1)
    const us = await cli.startUntil(run('r2', '--param', 'region=us'), () => cli.count('began') === 2)
    expect((await cli.reprise(...run('r3'))).code).toBe(4)
    cli.write('go', '')
    expect([(await eu.ended).code, (await us.ended).code]).toEqual([0, 0])
  })

  test.each(['a\0b', 'a\uD800b'])('is refused if its name could not be kept: %j', async (region) => {
    cli = new CliFixture()
    const plan = await loadWorkflow(WORKFLOW('"deploy-${region}"'), { file: cli.path('flow.yaml') })
    const running = runWorkflow(plan, { durable: cli.store, stateDirectory: cli.path('.reprise'), params: { region } })
    await expect(running).rejects.toThrow(/^`concurrency`: the name of the group, "deploy-a.*b", holds a NUL character/)
  })

  test('is shown by --dry-run, and checked before anything runs', async () => {
    cli = new CliFixture(WORKFLOW('{ group: deploy, on_conflict: wait }'))
    const plan = JSON.parse((await cli.reprise('run', 'workflow.yaml', '--dry-run', '--json')).stdout)
    expect(plan.concurrency).toEqual({ group: 'deploy', onConflict: 'wait' })
    cli.write('workflow.yaml', WORKFLOW('{ group: "deploy-${regoin}", on_conflict: queue }'))
    const { code, stdout, stderr } = await cli.reprise('validate', 'workflow.yaml')
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('did you mean `region`?')
    expect(stdout + stderr).toContain('refuse, wait, cancel_old')
  })
})
