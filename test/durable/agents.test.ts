/**
 * A process that executes tasks of a run without conducting it, as an agent of a map will: nothing ties it to the process
 * that conducts the run.
 */
import { expect, it } from 'vitest'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { Definition } from '../../packages/reprise/src/durable/definition.js'
import { recordOf } from '../../packages/reprise/src/durable/policy-record.js'
import { turns, ProcessModel } from './process-model.js'

const ITEMS = Array.from({ length: 40 }, (_, index) => `item-${String(index).padStart(2, '0')}`)

/** Tasks in the scope of the run `r`, with no conductor. */
function itemsOf(run: (id: string) => void): Definition {
  const { policy } = normalizePolicy({ attempts: 2 })
  const record = recordOf(policy, 'rerun')
  return {
    name: 'items',
    queue: 'r/items',
    scopeKind: 'run',
    scope: 'r',
    policy,
    record,
    run: (_input, { taskId }) => run(taskId),
    onInterrupt: 'rerun',
    verify: undefined,
  }
}

it('goes on with the items of a run when its conductor is killed and another process takes the run', async () => {
  const model = new ProcessModel()
  const first = await model.open()
  await first.durable.runs.start({ id: 'r', kind: 'map', name: 'r', definition: null, fingerprint: '' })
  const items = first.durable['tasks'].handle(itemsOf(() => undefined))
  await items.startAll(ITEMS.map((id) => ({ id, input: null })))
  const done: string[] = []
  let changeConductor: Promise<unknown> | undefined
  const agent = await model.open({ concurrency: 1 })
  const next = await model.open()
  const takeRun = async (): Promise<void> => {
    await first.kill()
    const { record } = await next.durable.runs.take('r')
    expect(record).toMatchObject({ fence: 2, resumes: 1 })
  }
  agent.durable['worker'].register(
    itemsOf((id) => {
      done.push(id)
      if (done.length === 10) changeConductor = takeRun()
    }),
  )
  for (let turn = 0; turn < 200 && done.length < ITEMS.length; turn++) await turns()
  await changeConductor
  expect(changeConductor).toBeDefined()
  // Each once, in their order.
  expect(done).toEqual(ITEMS)
  const tasks = await model.ledger.list({ queue: 'r/items' })
  expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set(['succeeded']))
})
