/** Who may write: leases, fences, takeovers, and stops at bad moments. I3, I5 and I7. */
import { describe, expect, it } from 'vitest'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { deferred, type Host, type HostOptions, isSettled, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 2, initialDelay: '1s', jitter: false } as const
type Operation = (input: null, context: { signal: AbortSignal }) => unknown
type Opened = Host & { task: TaskHandle<null, unknown> }

async function open(model: ProcessModel, operation: Operation, options: HostOptions = {}): Promise<Opened> {
  const host = await model.open(options)
  return { ...host, task: host.durable.task<null, unknown>('t', POLICY, operation) }
}

const hang: Operation = () => new Promise(() => undefined)

/** Everything a ledger says of the task. */
const recordOf = async ({ ledger }: ProcessModel): Promise<string> =>
  JSON.stringify([
    await ledger.get({ scopeKind: 'task', scope: 't', id: 'a' }),
    await ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' }),
  ])

describe('a zombie that wakes up', () => {
  it.each(['value', 'error'] as const)('writes nothing of its %s while another runs the attempt', async (how) => {
    const model = new ProcessModel()
    const end = deferred()
    const zombie = await open(model, () => end.promise)
    await zombie.task.start(null, { id: 'a' })
    await turns()
    await zombie.expire()
    const heir = await open(model, hang)
    expect(await heir.durable.resume()).toMatchObject({ resumed: 1 })
    await turns()
    const before = await recordOf(model)
    if (how === 'value') end.resolve()
    else end.reject(new Error('late'))
    await turns()
    expect(await recordOf(model)).toBe(before)
    await heir.durable.close()
    await zombie.durable.close()
  })

  it.each([
    ['waits', 2, 'waiting'],
    ['is over', 1, 'failed'],
  ] as const)('writes nothing after the third interruption, when the task %s', async (_what, attempts, status) => {
    const model = new ProcessModel()
    const end = deferred()
    const policy = { ...POLICY, attempts }
    let host = await model.open()
    await host.durable.task('t', policy, hang).start(null, { id: 'a' })
    for (let loss = 0; loss < 2; loss++) {
      await turns()
      await host.kill()
      host = await model.open()
      host.durable.task('t', policy, () => end.promise)
      await host.durable.resume()
    }
    await turns()
    await host.expire()
    const heir = await model.open()
    heir.durable.task('t', policy, hang)
    await heir.durable.resume()
    expect(await model.task('t', 'a')).toMatchObject({ status })
    const before = await recordOf(model)
    end.resolve()
    await turns()
    expect(await recordOf(model)).toBe(before)
    await heir.durable.close()
    await host.durable.close()
  })

  it('writes nothing through a line that was held meanwhile', async () => {
    const model = new ProcessModel()
    const zombie = await open(model, () => 'late')
    zombie.line.hold()
    const heir = await open(model, hang)
    await heir.task.start(null, { id: 'a' })
    await turns()
    const before = await recordOf(model)
    zombie.line.release()
    await turns()
    expect(await recordOf(model)).toBe(before)
    await heir.durable.close()
    await zombie.durable.close()
  })
})

describe('several processes', () => {
  it('run each task once between them', async () => {
    const model = new ProcessModel()
    const runs = new Map<string, number>()
    const operation = (_input: null, { taskId }: { taskId: string }): void =>
      void runs.set(taskId, (runs.get(taskId) ?? 0) + 1)
    const hosts = await Promise.all(Array.from({ length: 4 }, () => model.open({ slow: true, concurrency: 5 })))
    const tasks = hosts.map(({ durable }) => durable.task('t', POLICY, operation))
    await Promise.all(
      tasks.flatMap((task) => Array.from({ length: 50 }, (_, index) => task.start(null, { id: `i${index}` }))),
    )
    await Promise.all(
      tasks.flatMap((task) => Array.from({ length: 50 }, (_, index) => task.run(null, { id: `i${index}` }))),
    )
    expect([...runs.values()]).toEqual(Array.from({ length: 50 }, () => 1))
    await Promise.all(hosts.map(({ durable }) => durable.close()))
  })

  it('take over a lost owner once, however many resume at once', async () => {
    const model = new ProcessModel()
    const lost = await open(model, hang)
    for (let index = 0; index < 20; index++) await lost.task.start(null, { id: `i${index}` })
    await turns()
    await lost.kill()
    const hosts = await Promise.all(Array.from({ length: 5 }, () => open(model, hang, { slow: true })))
    const resumed = await Promise.all(hosts.map(({ durable }) => durable.resume()))
    expect(resumed.reduce((sum, one) => sum + one.resumed, 0)).toBe(20)
    await turns()
    for (const task of await model.ledger.list({ scopeKind: 'task', scope: 't' })) {
      expect(task).toMatchObject({
        status: 'running',
        progress: { interruptions: 1, current: { attempt: 1, execution: 2 } },
      })
    }
    await Promise.all(hosts.map(({ durable }) => durable.close()))
  })

  it('leave a living owner alone', async () => {
    const model = new ProcessModel()
    const first = await open(model, hang)
    await first.task.start(null, { id: 'a' })
    await turns()
    const second = await open(model, hang)
    expect(await second.durable.resume()).toMatchObject({ resumed: 0 })
    expect((await model.task('t', 'a')).owner).toBe(first.line.owner?.id)
    await first.durable.close()
    await second.durable.close()
  })
})

describe('a stop at a bad moment', () => {
  async function statusesAfter(steps: number): Promise<string[]> {
    const model = new ProcessModel()
    let ran = 0
    const operation: Operation = (_input, { signal }) => {
      ran++
      return model.clock.sleep(1000, signal)
    }
    const host = await open(model, operation, { slow: true })
    void host.task.start(null, { id: 'a' }).catch(() => undefined)
    void host.task.run(null, { id: 'b' }).catch(() => undefined)
    await turns(steps)
    await host.durable.close()
    const before = ran
    await turns()
    expect(ran).toBe(before)
    const heir = await open(model, () => 'done')
    await heir.durable.resume()
    await model.clock.advance(5000)
    await heir.durable.close()
    return (await model.ledger.list({ scopeKind: 'task', scope: 't' })).map(({ status }) => status)
  }

  it.each([2, 3, 4, 5])('loses no task that was being claimed: after %s turns', { timeout: 1500 }, async (steps) => {
    for (const status of await statusesAfter(steps)) expect(status).toBe('succeeded')
  })

  it.each([0, 1, 6, 8, 10])('loses no task that was about to be, or had been: after %s turns', async (steps) => {
    for (const status of await statusesAfter(steps)) expect(status).toBe('succeeded')
  })

  it('takes over tasks whose owner the ledger does not know any more', async () => {
    const model = new ProcessModel()
    const lost = await open(model, hang)
    await lost.task.start(null, { id: 'a' })
    await turns()
    lost.line.cut()
    await model.ledger.removeOwner(lost.line.owner?.id ?? '')
    const heir = await open(model, () => 'done')
    expect(await heir.durable.resume()).toMatchObject({ resumed: 1 })
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'succeeded' })
    await heir.durable.close()
  })

  it('does not begin the next attempt that was decided just before', async () => {
    const model = new ProcessModel()
    const host = await model.open({ slow: true })
    const end = deferred()
    let starts = 0
    const task = host.durable.task('t', { attempts: 5, initialDelay: 0 }, () => {
      starts++
      return starts === 1 ? end.promise : new Promise(() => undefined)
    })
    await task.start(null, { id: 'a' })
    await turns()
    end.reject(new Error('no'))
    await turns(2)
    const closed = host.durable.close()
    await turns()
    expect(await isSettled(closed)).toBe(true)
    const { status, owner } = await model.task('t', 'a')
    expect([status, owner]).toEqual(['waiting', null])
  })
})
