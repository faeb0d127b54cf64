/** A clock that was set back while nothing ran: what is left to wait is never more than there was when it was chosen. */
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../packages/reprise/src/core/budgets/token-bucket.js'
import { listGates, tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { GateRecord } from '../../packages/reprise/src/ledger/records.js'
import { type Host, rejection, turns, ProcessModel } from './process-model.js'

const DAY_MS = 86_400_000
const BREAKER = { key: 'mail', failureThreshold: 1, recoveryTimeout: '2s' } as const

async function gateOf(model: ProcessModel, key: string): Promise<GateRecord | undefined> {
  return (await model.ledger.gates()).find((gate) => gate.key === key)
}

/** A process that uses the breaker of `mail`; `isDown`: each attempt fails. */
async function mailer(model: ProcessModel, isDown: boolean): Promise<Host & { send(id: string): Promise<unknown> }> {
  const host = await model.open()
  const task = host.durable.task('mail', { attempts: 1, breaker: BREAKER }, () => {
    if (isDown) throw new Error('down')
    return 'sent'
  })
  return { ...host, send: (id) => task.run(null, { id }) }
}

describe('a clock set back over a restart', () => {
  it('makes no open breaker wait longer than its recovery time', async () => {
    const model = new ProcessModel()
    const now = model.now
    model.setClock(now + DAY_MS)
    const before = await mailer(model, true)
    await rejection(before.send('a'))
    await before.kill()
    model.setClock(now)
    const after = await mailer(model, false)
    expect(await rejection(after.send('b'))).toMatchObject({ stopReason: 'breaker_open' })
    expect((await listGates(model.ledger)).breakers).toMatchObject([
      { state: { phase: 'open', openUntilMs: now + 2000 }, lastFailureAtMs: now },
    ])
    await model.clock.advance(2000)
    expect(await after.send('c')).toBe('sent')
    await after.durable.close()
  })

  it('keeps a wait that a person chose for a breaker, and no more', async () => {
    const model = new ProcessModel()
    const now = model.now
    await (await mailer(model, false)).send('a')
    model.setClock(now + DAY_MS)
    await tripBreaker(model.ledger, 'mail', { reason: 'maintenance', recoveryTimeout: '10m' })
    model.setClock(now)
    // Shown so before a process has corrected it.
    expect((await listGates(model.ledger)).breakers).toMatchObject([{ state: { openUntilMs: now + 600_000 } }])
    const after = await mailer(model, false)
    expect(await gateOf(model, 'breaker:mail')).toMatchObject({
      state: { openUntilMs: now + 600_000, openedAtMs: now },
    })
    await after.durable.close()
  })

  it('leaves a breaker alone that was opened before', async () => {
    const model = new ProcessModel()
    const before = await mailer(model, true)
    await rejection(before.send('a'))
    const gate = await gateOf(model, 'breaker:mail')
    await before.kill()
    await model.clock.advance(500)
    const after = await mailer(model, false)
    expect(await gateOf(model, 'breaker:mail')).toEqual(gate)
    await after.durable.close()
  })

  it('stops no bucket of tokens and no rate of a queue from being refilled', async () => {
    const model = new ProcessModel()
    const now = model.now
    const open = async (): Promise<Host> =>
      model.open({ budgets: { api: tokenBucket({ capacity: 1, refillPerSecond: 1 }) } })
    const run = async ({ durable }: Host, id: string): Promise<unknown> => {
      const policy = { attempts: 1, budget: 'api' } as const
      const task = durable.task('t', policy, () => 'ran', { whenDenied: 'hold', rate: { perSecond: 1, burst: 1 } })
      await turns()
      return task.run(null, { id })
    }
    model.setClock(now + DAY_MS)
    const before = await open()
    expect(await run(before, 'a')).toBe('ran')
    await before.kill()
    model.setClock(now)
    const after = await open()
    const ran = run(after, 'b')
    await turns()
    await model.clock.advance(1500)
    await turns()
    await model.clock.advance(1500)
    expect(await ran).toBe('ran')
    await after.durable.close()
  })
})
