/** Runs and tasks that share one process: what a run brings along, and what it leaves when it goes. */
import { countBudget } from 'reprise'
import { expect, it } from 'vitest'
import { LedgerError } from '../../packages/reprise/src/ledger/errors.js'
import { withVerbs } from './with-verbs.js'
import { deferred, rejection, turns, until, ProcessModel } from './process-model.js'

const NEW = { id: 'night-1', kind: 'test', name: 'night', definition: {}, fingerprint: 'f1' }
const STEP = { attempts: 3, initialDelay: '1s', jitter: false } as const

it('a budget of the program counts on after a run that brought one of its name', async () => {
  const model = new ProcessModel()
  const budgets = { api: countBudget({ total: 9 }) }
  const [{ durable }, other] = [
    await model.open({ budgets }),
    await model.open({ budgets: { api: countBudget({ total: 9 }) } }),
  ]
  const policy = { attempts: 2, initialDelay: 0, jitter: false, budget: 'api' } as const
  const fails = (): Promise<null> => Promise.reject(new Error('down'))
  const [mine, theirs] = [durable.task('mine', policy, fails), other.durable.task('theirs', policy, fails)]
  const used = async (): Promise<unknown> => {
    const gate = (await model.ledger.gates()).find(({ key }) => key === 'budget:api')
    return (gate?.state as { used: number } | undefined)?.used
  }
  await rejection(mine.run(null))
  const run = await durable.runs.start(NEW, { budgets: new Map([['api', countBudget({ total: 9 })]]) })
  await rejection(run.step('a', policy, fails).run())
  run.release()
  await rejection(theirs.run(null))
  expect(await used()).toBe(3)
  await rejection(mine.run(null))
  expect(await used()).toBe(4)
  await Promise.all([durable.close(), other.durable.close()])
})

it('an observer that two runs brought hears of the second after the first has gone', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const told: string[] = []
  const observer = { onEvent: ({ type }: { readonly type: string }): void => void told.push(type) }
  const first = await durable.runs.start(NEW, { observer })
  const second = await durable.runs.start({ ...NEW, id: 'night-2' }, { observer })
  first.release()
  await second.step('a', STEP, () => 1).run()
  expect(told.length).toBeGreaterThan(0)
  second.release()
  told.length = 0
  await durable.runs.start({ ...NEW, id: 'night-3' }).then((run) => run.step('a', STEP, () => 1).run())
  expect(told).toEqual([])
  await durable.close()
})

it('a step whose caller goes while it is being claimed harms no other task of the process', async () => {
  const [claimed, recorded] = [deferred(), deferred()]
  let isHeld = false
  let claims = 0
  const model = new ProcessModel((ledger) =>
    withVerbs(ledger, {
      claim: async (request, decide) => {
        if (isHeld && ++claims > 0) await claimed.promise
        return ledger.claim(request, decide)
      },
      transact: async (keys, decide) => {
        if (isHeld && keys.runs?.includes('night-1')) {
          await recorded.promise
          throw new LedgerError('busy', 'The store is busy')
        }
        return ledger.transact(keys, decide)
      },
    }),
  )
  const first = await model.open()
  const run = await first.durable.runs.start(NEW)
  void run
    .step('a', STEP, () => Promise.reject(new Error('down')))
    .run()
    .catch(() => undefined)
  await until(async () => (await run.tasks(['waiting'])).length === 1)
  await first.kill()
  await model.clock.advance(5000)
  const { durable } = await model.open()
  const plain = durable.task<null, string>('plain', { attempts: 1 }, () => 'fine')
  const again = await durable.runs.take('night-1')
  isHeld = true
  let calls = 0
  const gone = rejection(again.step('a', STEP, () => ++calls).run())
  await plain.start(null, { id: 'x' })
  await until(() => claims > 0)
  recorded.resolve()
  expect(await gone).toMatchObject({ problem: 'busy' })
  isHeld = false
  claimed.resolve()
  await turns()
  expect(await plain.run(null, { id: 'x' })).toBe('fine')
  // It was claimed while its caller was there: it runs, and what it gives is recorded.
  expect(await again.step('a', STEP, () => ++calls).run()).toBe(1)
  expect(calls).toBe(1)
  await durable.close()
})
