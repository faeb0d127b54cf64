/** Slots of a budget that each process keeps for itself: what one process ends of another's is not its own. */
import { expect, it } from 'vitest'
import { adaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { turns, ProcessModel } from '../durable/process-model.js'

const POLICY = { attempts: 2, initialDelay: '1s', jitter: false, budget: 'line' } as const
const hang = (): Promise<never> => new Promise(() => undefined)

async function openLined(model: ProcessModel) {
  const budget = adaptiveBudget({ bulkhead: true })
  const host = await model.open({ budgets: { line: budget } })
  const task = host.durable.task<null, unknown>('t', POLICY, hang)
  return { ...host, budget, task }
}

it('a task cancelled from another process frees the slot of the process that ran it', async () => {
  const model = new ProcessModel()
  const other = await openLined(model)
  void other.task.run(null, { id: 'b' }).catch(() => undefined)
  await turns()
  const runner = await openLined(model)
  void runner.task.run(null, { id: 'a' }).catch(() => undefined)
  await turns()
  const owners = (await model.ledger.list({ statuses: ['running'] })).map(({ owner }) => owner)
  expect(owners).toEqual([runner.line.owner?.id, other.line.owner?.id])
  expect(other.budget.inFlight).toBe(1)
  await other.task.cancel('a')
  await turns()
  expect(other.budget.inFlight).toBe(1)
  expect(await runner.task.status('a')).toMatchObject({ state: 'cancelled' })
  await runner.kill()
  await other.kill()
})
