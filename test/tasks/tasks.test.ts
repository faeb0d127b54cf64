/** `reprise tasks`: durable tasks of a program, looked at and mended from the command line. On both stores. Needs a build. */
import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { concurrencyBudget } from 'reprise'
import { type Durable, openDurable } from 'reprise/durable'
import type { TaskDetail, TaskView } from '@reprise/workflow/internal'
import { onBothStores } from '../workflow/both-stores.js'
import { CliFixture } from '../workflow/cli-fixture.js'
import { repriseInProcess } from '../workflow/cli-in-process.js'

const HOUR = { attempts: 3, backoff: 'fixed', initialDelay: '1h', maxDelay: '1h' } as const

interface Page {
  readonly tasks: readonly TaskView[]
  readonly next: string | null
}

onBothStores('durable tasks of a program', () => {
  let fixture: CliFixture
  let program: Durable
  beforeEach(async () => {
    fixture = new CliFixture()
    mkdirSync(fixture.path('.reprise'), { recursive: true })
    program = await openDurable(fixture.store)
  })
  afterEach(async () => {
    await program.close()
    fixture.remove()
  })

  const typed = (...args: string[]): ReturnType<typeof repriseInProcess> => repriseInProcess(fixture, ...args)

  async function data<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await typed(...args, '--json')
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as T
  }

  async function until(holds: () => Promise<boolean>): Promise<void> {
    await expect.poll(holds, { timeout: 20_000 }).toBe(true)
  }

  test('are listed in pages, by name and by state', async () => {
    const charge = program.task('charge', { attempts: 1 }, (n: number) => n)
    const mail = program.task('mail', { attempts: 1 }, () => Promise.reject(new Error('bounced')))
    for (const id of ['a', 'b/1', 'c d']) await charge.run(1, { id })
    await mail.run(null, { id: 'ada@example.com' }).catch(() => undefined)
    const all = ['charge/a', 'charge/b/1', 'charge/c d', 'mail/ada@example.com']
    const { tasks, next } = await data<Page>('tasks', 'list')
    expect([tasks.map(({ task }) => task), next]).toEqual([all, null])
    const names: string[] = []
    let after: string | null = null
    do {
      const page: Page = await data<Page>(
        'tasks',
        'list',
        '--limit',
        '2',
        ...(after === null ? [] : ['--after', after]),
      )
      names.push(...page.tasks.map(({ task }) => task))
      after = page.next
    } while (after !== null)
    expect(names).toEqual(all)
    const failed = await data<Page>('tasks', 'list', '--state', 'failed')
    expect(failed.tasks).toMatchObject([
      {
        task: 'mail/ada@example.com',
        state: 'failed',
        stopReason: 'attempts_exhausted',
        failure: { message: 'bounced' },
      },
    ])
    expect((await data<Page>('tasks', 'list', '--name', 'charge')).tasks).toHaveLength(3)
    const { stdout } = await typed('tasks', 'list', '--ndjson')
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as TaskView).task),
    ).toEqual(all)
  })

  test('are told of by ps, and their dead letters by dlq', async () => {
    expect((await typed('ps')).stdout).not.toContain('tasks list')
    const mail = program.task('mail', { attempts: 1 }, () => Promise.reject(new Error('bounced')))
    await mail.run(null, { id: 'a' }).catch(() => undefined)
    expect((await typed('ps')).stdout).toContain('Programs have durable tasks here as well: reprise tasks list')
    expect(await data('ps')).toEqual({ runs: [], hasTasks: true })
    expect(await data('dlq', 'list')).toMatchObject({ letters: [{ letter: 'mail/a', kind: 'task' }] })
  })

  test('are shown with data, result and every attempt, also where the id has slashes and spaces', async () => {
    let failures = 0
    const charge = program.task('charge', { attempts: 2, initialDelay: 1 }, ({ n }: { n: number }) => {
      if (failures++ === 0) throw new Error('busy')
      return { charged: n }
    })
    await charge.run({ n: 7 }, { id: 'order/7 b' })
    const detail = await data<TaskDetail>('tasks', 'show', 'charge/order/7 b')
    expect(detail).toMatchObject({ state: 'succeeded', attempts: 2, input: { n: 7 }, result: { charged: 7 } })
    expect(detail.history.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'failure'],
      [2, 'success'],
    ])
    expect(await data('tasks', 'show', 'charge', 'order/7 b')).toEqual(detail)
    const { code, stderr } = await typed('tasks', 'show', 'charge/order/7')
    expect([code, stderr]).toEqual([4, expect.stringContaining('Did you mean charge/order/7 b?')])
  })

  test('start their next attempt early, in the process of the program', async () => {
    let failures = 0
    const charge = program.task('charge', HOUR, () => {
      if (failures++ === 0) throw new Error('busy')
      return 'charged'
    })
    const charged = charge.run(null, { id: 'a' })
    await until(async () => (await charge.status('a'))?.state === 'waiting')
    expect((await typed('tasks', 'retry-now', 'charge/a', '--reason', 'it is back')).code).toBe(0)
    await expect(charged).resolves.toBe('charged')
    const { changes } = await data<TaskDetail>('tasks', 'show', 'charge/a')
    expect(changes).toMatchObject([{ type: 'retry_now', detail: { reason: 'it is back', by: expect.any(String) } }])
    const { code, stderr } = await typed('tasks', 'retry-now', 'charge/a')
    expect([code, stderr]).toEqual([4, expect.stringContaining('is succeeded: only a task that waits')])
  })

  test('are cancelled: the attempt that runs is aborted, and a second cancel changes nothing', async () => {
    let reason: unknown
    const charge = program.task('charge', HOUR, (_input: null, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason
          reject(new Error('aborted'))
        })
      })
    })
    await charge.start(null, { id: 'a' })
    await until(async () => (await charge.status('a'))?.state === 'running')
    expect(await data('tasks', 'cancel', 'charge/a', '--reason', 'withdrawn')).toEqual({
      task: 'charge/a',
      cancelled: true,
    })
    await until(async () => reason !== undefined)
    expect(await charge.status('a')).toMatchObject({ state: 'cancelled', stopReason: 'aborted' })
    expect(await data('tasks', 'cancel', 'charge/a')).toEqual({ task: 'charge/a', cancelled: false })
  })

  test('give the slot of their breaker back when the probe that holds it is cancelled', async () => {
    let isHanging = false
    const breaker = { key: 'bank', failureThreshold: 1, recoveryTimeout: 10 }
    const charge = program.task('charge', { attempts: 1, breaker }, () => {
      if (isHanging) return new Promise<never>(() => undefined)
      throw new Error('down')
    })
    await charge.run(null, { id: 'a' }).catch(() => undefined)
    isHanging = true
    await until(async () => {
      await charge.start(null, { id: `probe-${Date.now()}` })
      const { tasks } = await data<Page>('tasks', 'list', '--state', 'running')
      return tasks.length === 1
    })
    const [probe] = (await data<Page>('tasks', 'list', '--state', 'running')).tasks
    await data('tasks', 'cancel', probe?.task ?? '')
    const probes = await fixture.ledger(async (ledger) => (await ledger.gates()).map(({ state }) => state))
    expect(probes).toMatchObject([{ probes: 0 }])
  })

  test('are left to their program where only that can give back what a budget granted', async () => {
    const limited = await openDurable(fixture.store, { budgets: { few: concurrencyBudget({ max: 1 }) } })
    const task = limited.task('limited', { attempts: 1, budget: 'few' }, () => new Promise<never>(() => undefined))
    await task.start(null, { id: 'a' })
    await until(async () => (await task.status('a'))?.state === 'running')
    const { code, stderr } = await typed('tasks', 'cancel', 'limited/a')
    expect([code, stderr]).toEqual([4, expect.stringContaining('budget few has granted: only its program can do that')])
    expect(await task.status('a')).toMatchObject({ state: 'running' })
    await limited.close()
  })

  describe('that are undecided', () => {
    beforeEach(async () => {
      const earlier = await openDurable(fixture.store)
      const pay = earlier.task('pay', { attempts: 2 }, () => new Promise<never>(() => undefined), {
        onInterrupt: 'fail',
      })
      await pay.start(null, { id: 'a' })
      await until(async () => (await pay.status('a'))?.state === 'running')
      await earlier.close()
    })

    test('succeed with the result that a person gives', async () => {
      expect((await data<Page>('tasks', 'list', '--state', 'undecided')).tasks).toHaveLength(1)
      const decided = await data('tasks', 'decide', 'pay/a', '--done', '--result', '{"receipt": 7}')
      expect(decided).toEqual({ task: 'pay/a', answer: 'done' })
      const pay = program.task('pay', { attempts: 2 }, () => 'again', { onInterrupt: 'fail' })
      await expect(pay.run(null, { id: 'a' })).resolves.toEqual({ receipt: 7 })
      const { code, stderr } = await typed('tasks', 'decide', 'pay/a', '--rerun')
      expect([code, stderr]).toEqual([4, expect.stringContaining('is not undecided')])
    })

    test('run again in the process of the program', async () => {
      const pay = program.task('pay', { attempts: 2 }, () => 'again', { onInterrupt: 'fail' })
      expect(await data('tasks', 'decide', 'pay/a', '--rerun')).toEqual({ task: 'pay/a', answer: 'rerun' })
      await expect(pay.run(null, { id: 'a' })).resolves.toBe('again')
      expect((await pay.status('a'))?.history.map(({ attempt, execution }) => [attempt, execution])).toEqual([
        [1, 1],
        [1, 2],
      ])
    })

    test.each([
      [['--done', '--rerun'], '--done and --rerun were both given'],
      [[], 'neither --done nor --rerun was given'],
      [['--rerun', '--result', '1'], '--result is the result of an attempt that took effect'],
      [['--done', '--result', '{'], '--result is not valid JSON'],
    ])('are left alone with the flags %j', async (flags, said) => {
      const { code, stderr } = await typed('tasks', 'decide', 'pay/a', ...flags)
      expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
    })
  })
})

test('a directory without a store has no tasks to list, and none to show', async () => {
  const fixture = new CliFixture()
  const listed = await repriseInProcess(fixture, 'tasks', 'list', '--json')
  expect([listed.code, JSON.parse(listed.stdout)]).toEqual([0, { tasks: [], next: null }])
  expect((await repriseInProcess(fixture, 'tasks', 'show', 'a/b')).code).toBe(4)
  expect((await repriseInProcess(fixture, 'tasks', 'list', '--after', 'nowhere')).code).toBe(2)
  fixture.remove()
})
