/**
 * A program and the command line on one store, with a task and a run of one name and a task and a step of one id: neither
 * sees, replaces or removes what belongs to the other. Needs a build.
 */
import { mkdirSync } from 'node:fs'
import { openDurable } from 'reprise/durable'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

const WORKFLOW = `
steps:
  - { id: fetch, shell: 'echo from the run | tee -a fetched', capture: said }
  - { id: use, shell: 'echo "\${said}" >> used' }
`
const FORGOTTEN = 'steps: [{ id: fetch, shell: "echo again >> fetched" }]\n'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** What an application keeps: a result, and a task that waits for an hour after its first failure. */
async function application(): Promise<void> {
  const durable = await openDurable(fixture.store)
  const fetch = durable.task('import', { attempts: 2, initialDelay: '1h', jitter: false }, (input: string) => {
    if (input === 'fails') throw new Error('not yet')
    return input
  })
  await fetch.run('from the program', { id: 'fetch' })
  await fetch.start('fails', { id: 'use' })
  await expect.poll(async () => (await fetch.status('use'))?.history.length).toBe(1)
  await durable.close()
}

const tasksOf = (scopeKind: 'task' | 'run'): Promise<unknown[]> =>
  fixture.ledger(async (ledger) =>
    (await ledger.list({ scopeKind, scope: 'import' })).map(({ id, status }) => `${id} ${status}`),
  )

const OF_PROGRAM = ['fetch succeeded', 'use waiting']

test('a run executes its steps, whatever tasks of its name the application has', async () => {
  fixture = new CliFixture(WORKFLOW)
  fixture.env['REPRISE_STORE'] = fixture.store
  mkdirSync(fixture.path('.reprise'))
  await application()
  const { code, stdout, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'import')
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('use')])
  expect([fixture.read('fetched'), fixture.read('used')]).toEqual(['from the run\n', 'from the run\n'])
  expect(await tasksOf('run')).toEqual(['fetch succeeded', 'use succeeded'])
  expect(await tasksOf('task')).toEqual(OF_PROGRAM)
  const { steps } = await fixture.show('import')
  expect(steps.map(({ id, state }) => [id, state])).toEqual([
    ['fetch', 'succeeded'],
    ['use', 'succeeded'],
  ])
})

test('clean removes a run and leaves tasks of its name, of which the application goes on', async () => {
  fixture = new CliFixture(WORKFLOW)
  fixture.env['REPRISE_STORE'] = fixture.store
  await fixture.reprise('run', 'workflow.yaml', '--run-id', 'import')
  await application()
  const { retrying } = JSON.parse((await fixture.reprise('ps', '--retrying', '--json')).stdout) as {
    retrying: unknown[]
  }
  expect(retrying).toMatchObject([{ scopeKind: 'task', scope: 'import', id: 'use', attempt: 2 }])
  const cleaned = await fixture.reprise('clean', 'import', '--yes')
  expect([cleaned.code, cleaned.stderr]).toEqual([0, expect.stringContaining('1 run is gone')])
  expect([await tasksOf('run'), await tasksOf('task')]).toEqual([[], OF_PROGRAM])
  const durable = await openDurable(fixture.store)
  const fetch = durable.task('import', { attempts: 2, initialDelay: '1h', jitter: false }, () => 'done')
  expect(await fetch.run('from the program', { id: 'fetch' })).toBe('from the program')
  await fetch.retryNow('use')
  expect(await fetch.run('fails', { id: 'use' })).toBe('done')
  await durable.close()
})

test('what the application forgets leaves the run of its name as it is', async () => {
  fixture = new CliFixture(FORGOTTEN)
  fixture.env['REPRISE_STORE'] = fixture.store
  await fixture.reprise('run', 'workflow.yaml', '--run-id', 'import')
  const durable = await openDurable(fixture.store)
  await durable.task('import', {}, () => 1).run(null, { id: 'fetch' })
  await durable.close()
  // As retention does it, which waits for a minute at least.
  const forgotten = await fixture.ledger(async (ledger) =>
    ledger.forget({ status: 'succeeded', beforeMs: (await ledger.now()) + 1, limit: 100 }),
  )
  expect([forgotten.tasks, await tasksOf('task')]).toEqual([1, []])
  expect(await tasksOf('run')).toEqual(['fetch succeeded'])
  const { code } = await fixture.reprise('resume', 'import')
  expect([code, fixture.count('fetched')]).toEqual([0, 1])
})
