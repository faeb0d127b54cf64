/**
 * Runs: steps that follow each other, conducted by one process at a time, taken up where they were.
 */
import { describe, expect, test } from 'vitest'
import { type DurableRun, sharedLedger } from 'reprise/internal'
import { deferred, LEASE_MS, turns, until, ProcessModel } from './process-model.js'

const NEW = { id: 'night-1', kind: 'test', name: 'night', definition: { steps: ['a', 'b'] }, fingerprint: 'f1' }
const QUICK = { attempts: 3, initialDelay: 10, backoff: 'fixed' } as const

/** A conductor of two steps; what ran is counted. */
async function conduct(run: DurableRun, ran: string[], fail: (id: string) => boolean = () => false): Promise<string[]> {
  const results: string[] = []
  for (const id of ['a', 'b']) {
    const step = run.step(id, QUICK, () => {
      ran.push(id)
      if (fail(id)) throw new Error(`no ${id}`)
      return `${id}!`
    })
    results.push(await step.run())
  }
  return results
}

describe('a run', () => {
  test('runs its steps, and gives what is recorded when it is asked again', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const run = await durable.runs.start(NEW)
    const ran: string[] = []
    expect(await conduct(run, ran)).toEqual(['a!', 'b!'])
    expect(await conduct(run, ran)).toEqual(['a!', 'b!'])
    expect(ran).toEqual(['a', 'b'])
    await run.finish('succeeded', { seen: 2 })
    const [record] = await durable.runs.list()
    expect(record).toMatchObject({ id: 'night-1', status: 'succeeded', owner: null, detail: { seen: 2 }, resumes: 0 })
    expect(record?.endedAtMs).not.toBeNull()
    await durable.close()
  })

  test('is begun once', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    await durable.runs.start(NEW)
    await expect(durable.runs.start(NEW)).rejects.toMatchObject({ kind: 'conflict' })
    await durable.close()
  })

  test('that was removed and begun again under its id takes nothing from its former conductor', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const former = await durable.runs.start(NEW)
    const items = former.items('items', QUICK, () => null)
    await sharedLedger(durable).removeRun(NEW.id, 100)
    const run = await durable.runs.start(NEW)
    // Both have the fence 1.
    await expect(items.create([{ id: 'a', input: null }])).rejects.toMatchObject({ kind: 'run_lost' })
    await expect(former.change({ detail: { done: 1 } })).rejects.toMatchObject({ kind: 'run_lost' })
    await expect(former.finish('succeeded')).rejects.toMatchObject({ kind: 'run_lost' })
    await expect(former.skip('a', null)).rejects.toMatchObject({ kind: 'run_lost' })
    const ran: string[] = []
    await expect(conduct(former, ran)).rejects.toMatchObject({ kind: 'run_lost' })
    expect(ran).toEqual([])
    expect(await conduct(run, ran)).toEqual(['a!', 'b!'])
    await durable.close()
  })

  test('refuses ids that are no file names', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    for (const id of ['../x', 'a/b', '', '.hidden', 'x'.repeat(129)])
      await expect(durable.runs.start({ ...NEW, id })).rejects.toThrow(/must match/)
    const run = await durable.runs.start(NEW)
    expect(() => run.step('a/b', QUICK, () => 1)).toThrow(/must match/)
    await expect(run.skip('..', 1)).rejects.toThrow(/must match/)
    await durable.close()
  })

  test('is not taken from a process that lives, but by force; that one then begins nothing more', async () => {
    const model = new ProcessModel()
    const [first, second] = [await model.open(), await model.open()]
    const mine = await first.durable.runs.start(NEW)
    await expect(second.durable.runs.take('night-1')).rejects.toMatchObject({ kind: 'locked' })
    const theirs = await second.durable.runs.take('night-1', { force: true })
    expect(theirs.record).toMatchObject({ fence: 2, resumes: 1 })
    const ran: string[] = []
    await expect(conduct(mine, ran)).rejects.toMatchObject({ kind: 'run_lost' })
    await expect(mine.finish('failed')).rejects.toMatchObject({ kind: 'run_lost' })
    await expect(mine.skip('c', null)).rejects.toMatchObject({ kind: 'run_lost' })
    expect(ran).toEqual([])
    expect(await conduct(theirs, ran)).toEqual(['a!', 'b!'])
    await Promise.all([first.durable.close(), second.durable.close()])
  })

  test('of two who take it up at once one gets it', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    await first.durable.runs.start(NEW)
    await first.kill()
    const [a, b] = [await model.open({ slow: true }), await model.open({ slow: true })]
    const takes = await Promise.allSettled([a.durable.runs.take('night-1'), b.durable.runs.take('night-1')])
    expect(takes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await Promise.all([a.durable.close(), b.durable.close()])
  })

  test('goes on after a kill with the step that was in flight, and runs no finished one again', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const run = await first.durable.runs.start(NEW)
    const ran: string[] = []
    await run.step('a', QUICK, () => void ran.push('a')).run()
    const started = deferred()
    const never = run.step('b', QUICK, () => {
      started.resolve()
      return new Promise(() => undefined)
    })
    void never.run().catch(() => undefined)
    await started.promise
    await first.kill()
    const second = await model.open()
    const again = await second.durable.runs.take('night-1')
    expect(await conduct(again, ran)).toEqual([null, 'b!'])
    expect(ran).toEqual(['a', 'b'])
    const [, b] = await again.tasks()
    expect(b).toMatchObject({ status: 'succeeded', progress: { retry: { launched: 1 } } })
    await second.durable.close()
  })

  test('waits only what is left of a wait that a killed process chose, and counts on', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const run = await first.durable.runs.start(NEW)
    const policy = { attempts: 2, initialDelay: 1000, jitter: false }
    let failures = 0
    const step = run.step('a', policy, () => {
      failures++
      throw new Error('no')
    })
    void step.run().catch(() => undefined)
    await until(async () => (await step.status())?.state === 'waiting')
    await model.clock.advance(600)
    await first.kill()
    const second = await model.open()
    const again = await second.durable.runs.take('night-1')
    const ended = again
      .step('a', policy, () => {
        failures++
        throw new Error('no')
      })
      .run()
    const told = expect(ended).rejects.toMatchObject({ stopReason: 'attempts_exhausted', attempts: 2 })
    await turns()
    await model.clock.advance(399)
    await turns()
    expect(failures).toBe(1)
    await model.clock.advance(1)
    await told
    expect(failures).toBe(2)
    await second.durable.close()
  })

  test('keeps what stands in the place of a step that was skipped', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const run = await durable.runs.start(NEW)
    expect(await run.skip('a', { skipped: 'not today' })).toBe(true)
    expect(await run.skip('a', { skipped: 'again' })).toBe(false)
    const ran: string[] = []
    expect(await conduct(run, ran)).toEqual([{ skipped: 'not today' }, 'b!'])
    expect(ran).toEqual(['b'])
    await durable.close()
  })

  test('that is cancelled begins nothing more, and stays so', async () => {
    const model = new ProcessModel()
    const [first, second] = [await model.open(), await model.open()]
    const run = await first.durable.runs.start(NEW)
    expect(await second.durable.runs.cancel('night-1')).toBe(true)
    expect(await second.durable.runs.cancel('night-1')).toBe(false)
    await expect(conduct(run, [])).rejects.toMatchObject({ kind: 'run_lost' })
    expect((await second.durable.runs.find('night-1')).record.status).toBe('cancelled')
    await expect(second.durable.runs.cancel('nobody')).rejects.toMatchObject({ kind: 'not_found' })
    await Promise.all([first.durable.close(), second.durable.close()])
  })

  test('has a new set of attempts for a step that was reset, and an answer for one nobody knows the end of', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const run = await durable.runs.start(NEW)
    let fails = true
    const step = run.step('a', { attempts: 1 }, () => {
      if (fails) throw new Error('no')
      return 'a!'
    })
    await expect(step.run()).rejects.toMatchObject({ stopReason: 'attempts_exhausted' })
    await expect(step.run()).rejects.toMatchObject({ stopReason: 'attempts_exhausted' })
    fails = false
    await step.reset()
    expect(await step.run()).toBe('a!')
    expect(await step.status()).toMatchObject({ state: 'succeeded', generation: 2 })
    await durable.close()
  })

  test('tells what happened to it, with one correlation id', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const run = await first.durable.runs.start(NEW)
    await run.change({ fingerprint: 'f2', definition: { steps: [] }, because: { added: ['c'] } })
    await run.leave()
    await first.durable.close()
    const second = await model.open()
    const again = await second.durable.runs.take('night-1')
    expect(await again.definition()).toEqual({ steps: [] })
    expect(again.record).toMatchObject({ fingerprint: 'f2', status: 'running' })
    await again.finish('failed')
    const events = await model.ledger.events(0, 100, { scopeKind: 'run', scope: 'night-1' })
    expect(events.map(({ type }) => type)).toEqual([
      'run_started',
      'run_changed',
      'run_finished',
      'run_resumed',
      'run_finished',
    ])
    expect(new Set(events.map(({ correlationId }) => correlationId)).size).toBe(1)
    await second.durable.close()
  })
})

describe('who has lost a run', () => {
  test('begins no further attempt of a step that waits: the new conductor does', async () => {
    const model = new ProcessModel()
    const [first, second] = [await model.open(), await model.open()]
    const policy = { attempts: 3, initialDelay: 1000, backoff: 'fixed' } as const
    const ran: string[] = []
    const failing = (who: string) => (): never => {
      ran.push(who)
      throw new Error('no')
    }
    const mine = (await first.durable.runs.start(NEW)).step('a', policy, failing('first'))
    const lost = expect(mine.run()).rejects.toMatchObject({ kind: 'run_lost' })
    await until(async () => (await mine.status())?.state === 'waiting')
    // Its line is held, as of a process that is stopped, until the attempt is due.
    first.line.hold()
    const theirs = (await second.durable.runs.take('night-1', { force: true })).step('a', policy, failing('second'))
    const ended = expect(theirs.run()).rejects.toMatchObject({ stopReason: 'attempts_exhausted', attempts: 3 })
    await turns()
    second.line.hold()
    await model.clock.advance(1000)
    first.line.release()
    await lost
    expect(ran).toEqual(['first'])
    second.line.release()
    await until(() => ran.length === 2)
    await until(async () => (await theirs.status())?.state === 'waiting')
    await model.clock.advance(1000)
    await ended
    expect(ran).toEqual(['first', 'second', 'second'])
    await Promise.all([first.durable.close(), second.durable.close()])
  })

  test('changes none of its steps', async () => {
    const model = new ProcessModel()
    const [first, second] = [await model.open(), await model.open()]
    const step = (await first.durable.runs.start(NEW)).step('a', { attempts: 1 }, () => {
      throw new Error('no')
    })
    await expect(step.run()).rejects.toThrow('no')
    await second.durable.runs.take('night-1', { force: true })
    await expect(step.reset()).rejects.toMatchObject({ kind: 'run_lost' })
    expect(await step.status()).toMatchObject({ generation: 1, state: 'failed' })
    await Promise.all([first.durable.close(), second.durable.close()])
  })
})

test('a run is kept by a process that exists, however long it has said nothing, until it is taken by force', async () => {
  const model = new ProcessModel()
  const stopped = await model.open({ isHere: true })
  await stopped.durable.runs.start(NEW)
  const heir = await model.open({ isHere: true })
  await expect(heir.durable.runs.take('night-1')).rejects.toMatchObject({
    kind: 'locked',
    message: expect.stringMatching(/process \d+ on .*\. The process exists, and keeps the run until it ends\.$/),
  })
  await model.clock.advance(2 * LEASE_MS)
  await expect(heir.durable.runs.take('night-1')).rejects.toMatchObject({
    kind: 'locked',
    message: expect.stringMatching(
      /its heartbeat is overdue: .* keeps the run until it ends or the run is taken by force/,
    ),
  })
  const taken = await heir.durable.runs.take('night-1', { force: true })
  expect(taken.record).toMatchObject({ fence: 2, resumes: 1 })
  await Promise.all([stopped.durable.close(), heir.durable.close()])
})

test('a run of a process that cannot be seen is free when its lease is over', async () => {
  const model = new ProcessModel()
  const lost = await model.open()
  await lost.durable.runs.start(NEW)
  const heir = await model.open()
  await expect(heir.durable.runs.take('night-1')).rejects.toMatchObject({
    kind: 'locked',
    message: expect.stringMatching(/Without a further heartbeat its lease runs out in \d+ s\.$/),
  })
  await lost.kill()
  expect((await heir.durable.runs.take('night-1')).record).toMatchObject({ fence: 2 })
  await heir.durable.close()
})

test('a run that was taken, or is being removed, since somebody looked is refused', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const run = await durable.runs.start(NEW)
  await run.leave()
  await (await durable.runs.take('night-1', { fence: 1 })).leave()
  await expect(durable.runs.take('night-1', { fence: 1 })).rejects.toMatchObject({ kind: 'locked' })
  const { record } = await durable.runs.find('night-1')
  await model.ledger.transact({ tasks: [], runs: ['night-1'] }, () => ({
    runs: [{ run: { ...record, status: 'removing' } }],
    result: undefined,
  }))
  await expect(durable.runs.take('night-1')).rejects.toMatchObject({ kind: 'not_found' })
  await durable.close()
})

test('the key of a step is the same over resumes, and another one in another run of the same name', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const keys: string[] = []
  const conductOnce = async (): Promise<void> => {
    const run = await durable.runs.start(NEW)
    await run.step('a', QUICK, (_input, { idempotencyKey }) => keys.push(idempotencyKey)).run()
    await run.finish('succeeded')
  }
  await conductOnce()
  await model.ledger.removeRun('night-1', 10)
  await conductOnce()
  expect(new Set(keys).size).toBe(2)
  await durable.close()
})
