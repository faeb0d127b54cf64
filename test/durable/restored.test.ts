/** What a resume says and measures of what earlier processes had left. */
import { expect, it } from 'vitest'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { createMetrics } from '../../packages/reprise/src/observe/metrics.js'
import { logLine } from '../../packages/reprise/src/observe/log-line.js'
import { turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 3, backoff: 'fixed', initialDelay: '1s', jitter: false } as const

/** So many tasks have failed once and wait, and their process is gone. */
async function left(count: number): Promise<ProcessModel> {
  const model = new ProcessModel()
  const host = await model.open()
  const task = host.durable.task('t', POLICY, () => {
    throw new Error('no')
  })
  for (let index = 0; index < count; index++) await task.start(null, { id: `t${index}` })
  await turns()
  await host.kill()
  return model
}

it('counts tasks that are overdue as waiting, also those that were begun before it looked', async () => {
  const model = await left(7)
  await model.clock.advance(60_000)
  const { durable } = await model.open({ concurrency: 3 })
  durable.task('t', POLICY, () => 'done')
  // What is due is begun as soon as its name is registered.
  await turns()
  expect(await durable.resume()).toMatchObject({ waiting: 7, resumed: 0 })
  await turns()
  expect(await durable.resume()).toMatchObject({ waiting: 0 })
  await durable.close()
})

it('is measured: how long it took, and what became of the tasks', async () => {
  const model = await left(2)
  const metrics = createMetrics()
  const events: RepriseEvent[] = []
  const { durable } = await model.open({ observers: [metrics, { onEvent: (event) => events.push(event) }] })
  expect(metrics.read().some(({ name }) => name.startsWith('reprise_restore'))).toBe(false)
  durable.task('t', POLICY, () => 'done')
  await durable.resume()
  await durable.resume()
  const families = metrics.read().filter(({ name }) => name.startsWith('reprise_restore'))
  expect(families).toMatchObject([
    { name: 'reprise_restore_seconds', type: 'histogram', samples: [{ labels: {}, count: 2 }] },
    {
      name: 'reprise_restored_tasks_total',
      type: 'counter',
      samples: [
        { labels: { result: 'resumed' }, value: 0 },
        { labels: { result: 'waiting' }, value: 4 },
        { labels: { result: 'migrated' }, value: 0 },
        { labels: { result: 'refused' }, value: 0 },
      ],
    },
  ])
  const [first] = events.filter(({ type }) => type === 'restored')
  expect(first).toMatchObject({ resumed: 0, waiting: 2, migrated: 0, refused: 0 })
  expect(first && logLine(first)).toBe('Resumed: 0 taken over, 2 waiting')
  await durable.close()
})
