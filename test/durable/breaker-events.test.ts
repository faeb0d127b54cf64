/** Changes of breakers are recorded with the task that has made them, in the commit in which they happen. */
import { describe, expect, it } from 'vitest'
import { ProcessModel } from './process-model.js'

const policy = {
  attempts: 6,
  initialDelay: '1s',
  backoff: 'fixed',
  jitter: false,
  breaker: { key: 'mail', failureThreshold: 2, recoveryTimeout: '500ms' },
} as const

/** What is recorded of the breaker: which task, when, and how it changed. */
async function changesOf(model: ProcessModel): Promise<unknown[]> {
  const events = await model.ledger.events(0, 1000)
  return events
    .filter(({ type }) => type === 'breaker_changed')
    .map(({ scope, id, correlationId, detail }) => ({ task: `${scope}/${id}`, correlationId, ...(detail as object) }))
}

describe('a breaker that durable tasks share', () => {
  it('leaves an event when it opens, lets a probe through, opens again and closes', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let failures = 3
    const task = durable.task<null, string>('t', policy, () => {
      if (failures-- > 0) throw new Error('503')
      return 'sent'
    })
    const result = task.run(null, { id: 'a' })
    await model.clock.advance(60_000)
    expect(await result).toBe('sent')
    const { correlationId } = (await model.task('t', 'a')) as { correlationId: string }
    const one = { task: 't/a', correlationId, breaker: 'mail' }
    expect(await changesOf(model)).toEqual([
      { ...one, from: 'closed', to: 'open' },
      { ...one, from: 'open', to: 'half_open' },
      { ...one, from: 'half_open', to: 'open' },
      { ...one, from: 'open', to: 'half_open' },
      { ...one, from: 'half_open', to: 'closed' },
    ])
    await durable.close()
  })

  it('leaves one event for a change that several processes find', async () => {
    const model = new ProcessModel()
    const [one, other] = [await model.open(), await model.open()]
    for (const [host, ids] of [
      [one, ['a', 'b']],
      [other, ['c', 'd']],
    ] as const) {
      const task = host.durable.task<null, string>('t', { ...policy, attempts: 1 }, () => {
        throw new Error('503')
      })
      for (const id of ids) await task.start(null, { id })
    }
    await model.clock.advance(60_000)
    expect(await changesOf(model)).toMatchObject([{ from: 'closed', to: 'open' }])
    await one.durable.close()
    await other.durable.close()
  })
})
