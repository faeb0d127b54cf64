/** `whenDenied: 'hold'` with a budget that has a line: a task that the line turns away waits as its queue does. */
import { adaptiveBudget } from 'reprise'
import { expect, it } from 'vitest'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { withVerbs } from './with-verbs.js'
import { turns, ProcessModel } from './process-model.js'

it('a task that a full line turns away is held: it is not claimed and parked again without end', async () => {
  let claims = 0
  const model = new ProcessModel((ledger) =>
    withVerbs(ledger, {
      claim: (request, decide) => {
        // A loop of claims would never let the test end.
        if (++claims > 2000) throw new Error('too many claims')
        return ledger.claim(request, decide)
      },
    }),
  )
  const held: string[] = []
  const onEvent = (event: RepriseEvent): void => {
    if (event.type === 'queue_held') held.push(`${event.key} by ${event.gate}`)
  }
  const budgets = { api: adaptiveBudget({ maxParked: 0 }) }
  const { durable } = await model.open({ budgets, observers: [{ onEvent }] })
  const policy = { attempts: 2, initialDelay: '100ms', budget: 'api' } as const
  const work = durable.task<string, null>('work', policy, () => Promise.reject(new Error('down')), {
    whenDenied: 'hold',
  })
  await work.startAll(Array.from({ length: 30 }, (_, index) => ({ id: `t${index}`, input: '' })))
  await turns(50)
  await model.clock.advance(1500)
  await turns(50)
  const before = claims
  await turns(300)
  // At most what a poll adds meanwhile.
  expect(claims - before).toBeLessThan(20)
  expect((await model.ledger.list({ statuses: ['waiting'] })).length).toBeGreaterThan(0)
  expect(held[0]).toBe('work by budget:api')
  await durable.close()
})
