/** The slot of an attempt is free when the attempt has succeeded; what is not written yet is bounded. */
import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { deferred, ProcessModel, turns } from './process-model.js'
import { withVerbs } from './with-verbs.js'

/** A store in which outcomes wait until they are released; claims do not. */
function slowOutcomes(): { model: ProcessModel; hold: () => void; release: () => void } {
  let held: ReturnType<typeof deferred<void>> | undefined = deferred()
  const hold = (): void => {
    held = deferred()
  }
  const wrap = (ledger: Ledger): Ledger =>
    withVerbs(ledger, {
      transact: async (keys, decide) => {
        await held?.promise
        return ledger.transact(keys, decide)
      },
    })
  const release = (): void => {
    held?.resolve()
    held = undefined
  }
  return { model: new ProcessModel(wrap), hold, release }
}

const POLICY = { attempts: 2, initialDelay: 0 } as const

describe('the slot of an attempt', () => {
  it('is free before the outcome is written, for as many outcomes as attempts may run', async () => {
    const { model, release } = slowOutcomes()
    const { durable } = await model.open({ concurrency: 3 })
    const begun: number[] = []
    const task = durable.task('t', POLICY, (input: number) => void begun.push(input))
    await task.startAll(Array.from({ length: 20 }, (_, input) => ({ id: `t${input}`, input })))
    await turns(50)
    // Three have left their slots, and three have ended in the slots of those.
    expect(begun).toHaveLength(6)
    release()
    await turns(100)
    expect(begun).toHaveLength(20)
    expect(new Set(begun).size).toBe(20)
    await durable.close()
  })

  it('is kept after a failure, since the next attempt may be committed with it', async () => {
    const { model, release } = slowOutcomes()
    const { durable } = await model.open({ concurrency: 3 })
    let [running, most, begun] = [0, 0, 0]
    const task = durable.task('t', POLICY, async () => {
      begun++
      most = Math.max(most, ++running)
      await turns(1)
      running--
      throw new Error('refused')
    })
    await task.startAll(Array.from({ length: 8 }, (_, input) => ({ id: `t${input}`, input })))
    await turns(50)
    expect(begun).toBe(3)
    release()
    await turns(200)
    expect({ begun, most }).toEqual({ begun: 16, most: 3 })
    await durable.close()
  })

  it('and the place of a limited queue are two things: the place is free when the outcome is written', async () => {
    const { model, hold, release } = slowOutcomes()
    release()
    const { durable } = await model.open({ concurrency: 10 })
    const begun: number[] = []
    const task = durable.task('t', POLICY, (input: number) => void begun.push(input), { most: 2 })
    await turns(10)
    hold()
    await task.startAll(Array.from({ length: 6 }, (_, input) => ({ id: `t${input}`, input })))
    await turns(50)
    expect(begun).toHaveLength(2)
    release()
    await turns(100)
    expect(begun).toHaveLength(6)
    await durable.close()
  })

  it('costs no more after a kill than what ran and what was not written', async () => {
    const { model } = slowOutcomes()
    const first = await model.open({ concurrency: 3 })
    const begun: string[] = []
    const register = (host: typeof first): void => {
      const task = host.durable.task(
        't',
        POLICY,
        (input: number, { execution }) => void begun.push(`${input}.${execution}`),
      )
      if (host === first) void task.startAll(Array.from({ length: 20 }, (_, input) => ({ id: `t${input}`, input })))
    }
    register(first)
    await turns(50)
    await first.kill()
    const interrupted = (await model.ledger.list({ scopeKind: 'task', scope: 't' })).filter(
      ({ owner }) => owner !== null,
    )
    expect(interrupted.map(({ input }) => `${String(input)}.1`).toSorted()).toEqual(begun.toSorted())
    expect(begun).toHaveLength(6)
  })
})
