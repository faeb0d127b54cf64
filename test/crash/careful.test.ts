/** `onInterrupt: 'fail'`: nothing starts after an interruption before a person has said so. */
import { expect, it } from 'vitest'
import { turns, ProcessModel } from '../durable/process-model.js'

const POLICY = { attempts: 2, initialDelay: '1s', jitter: false } as const
const hang = (): Promise<never> => new Promise(() => undefined)

async function openCareful(model: ProcessModel) {
  const host = await model.open()
  const task = host.durable.task<null, unknown>('t', POLICY, hang, { onInterrupt: 'fail' })
  return { ...host, task }
}

it('an attempt that must not run twice is undecided the third time too', async () => {
  const model = new ProcessModel()
  let host = await openCareful(model)
  await host.task.start(null, { id: 'a' })
  for (let loss = 1; loss <= 3; loss++) {
    await turns()
    await host.kill()
    host = await openCareful(model)
    await host.durable.resume()
    expect(await model.task('t', 'a'), `after loss ${loss}`).toMatchObject({ status: 'undecided', dueAtMs: null })
    await host.task.decide('a', 'rerun')
  }
  await host.durable.close()
})
