/** What returns a promise rejects: it does not throw at its caller. */
import { expect, it } from 'vitest'
import { MemoryLedger, openDurable } from 'reprise/durable'

it('every method of closed durable tasks that returns a promise rejects instead of throwing', async () => {
  const durable = await openDurable('memory:')
  const task = durable.task('t', {}, async (n: number) => n)
  const run = await durable.runs.start({ id: 'r', kind: 'test', name: 'r', definition: {}, fingerprint: 'f' })
  await durable.close()
  const asked: Record<string, () => Promise<unknown>> = {
    resume: () => durable.resume(),
    sweep: () => durable.sweep(),
    work: () => durable.work(),
    'runs.list': () => durable.runs.list(),
    'runs.start': () => durable.runs.start({ id: 's', kind: 'test', name: 's', definition: {}, fingerprint: 'f' }),
    'runs.take': () => durable.runs.take('r'),
    'runs.find': () => durable.runs.find('r'),
    'runs.cancel': () => durable.runs.cancel('r'),
    'task.run': () => task.run(1, { id: 'x' }),
    'task.start': () => task.start(1),
    'task.startAll': () => task.startAll([{ input: 1 }]),
    'task.status': () => task.status('x'),
    'task.cancel': () => task.cancel('x'),
    'task.retryNow': () => task.retryNow('x'),
    'task.reset': () => task.reset('x'),
    'task.decide': () => task.decide('x', 'rerun'),
  }
  for (const [name, ask] of Object.entries(asked)) {
    let answer: Promise<unknown> | undefined
    expect(() => (answer = ask()), name).not.toThrow()
    await expect(answer, name).rejects.toMatchObject({
      code: 'task_refused',
      message: expect.stringContaining('closed'),
    })
  }
  for (const ask of [() => run.tasks(), () => run.results(), () => run.definition()]) {
    expect(() => void ask().catch(() => undefined)).not.toThrow()
  }
})

it('startAll records the others when the policy of one is refused, and rejects afterwards', async () => {
  const ledger = new MemoryLedger()
  const before = await openDurable(ledger)
  await before.drain()
  await before.task('t', { attempts: 2 }, async (n: number) => n).start(0, { id: 'i0' })
  const after = await openDurable(ledger, { policyChange: 'refuse' })
  await after.drain()
  const task = after.task('t', { attempts: 3 }, async (n: number) => n)
  const many = Array.from({ length: 2500 }, (_, input) => ({ input, id: `i${input}` }))
  await expect(task.startAll(many)).rejects.toMatchObject({ code: 'task_refused' })
  expect(await task.status('i1')).toMatchObject({ state: 'waiting' })
  expect(await task.status('i2499')).toMatchObject({ state: 'waiting' })
  await after.close()
  await before.close()
})
