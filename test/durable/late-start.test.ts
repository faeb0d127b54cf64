/** An attempt whose beginning was written, and whose process heard of that only after its lease: it may be another's. */
import { describe, expect, it } from 'vitest'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { withVerbs } from './with-verbs.js'
import { deferred, type Host, isSettled, LEASE_MS, rejection, turns, ProcessModel } from './process-model.js'

/** The first answer to `verb` comes when it is let go. */
function withheld(ledger: Ledger, verb: 'claim' | 'create', isLetGo: Promise<void>): Ledger {
  let isFirst = true
  const late = async <T>(answered: Promise<T>): Promise<T> => {
    const mustWait = isFirst
    isFirst = false
    const answer = await answered
    if (mustWait) await isLetGo
    return answer
  }
  return withVerbs(
    ledger,
    verb === 'claim'
      ? { claim: (request, decide) => late(ledger.claim(request, decide)) }
      : { create: (tasks) => late(ledger.create(tasks)) },
  )
}

interface LateStart {
  readonly model: ProcessModel
  readonly here: Host
  readonly result: Promise<string>
  readonly started: string[]
  readonly answer: () => void
}

/** A task that is written as running here, and a lease, or `afterMs`, that has passed before anybody here knows. */
async function lateStart(verb: 'claim' | 'create', policy: PolicyInput = {}, afterMs = LEASE_MS): Promise<LateStart> {
  const letGo = deferred()
  const model = new ProcessModel((ledger) => withheld(ledger, verb, letGo.promise))
  const here = await model.open()
  const started: string[] = []
  const task = here.durable.task<null, string>('t', policy, () => {
    started.push('here')
    return 'by this process'
  })
  // What is started is claimed, what is waited for is written as running at once.
  if (verb === 'claim') await task.start(null, { id: 'a' })
  await turns()
  const result = task.run(null, { id: 'a' })
  await turns()
  expect(await model.task('t', 'a')).toMatchObject({ status: 'running', owner: here.line.owner?.id })
  await model.clock.advance(afterMs)
  return { model, here, result, started, answer: () => letGo.resolve() }
}

describe.each(['claim', 'create'] as const)('an attempt whose %s was answered after the lease', (verb) => {
  it('does not start when another process has taken it over', async () => {
    const { model, here, result, started, answer } = await lateStart(verb)
    const there = await model.open()
    const ending = deferred<string>()
    there.durable.task<null, string>('t', {}, () => {
      started.push('there')
      return ending.promise
    })
    expect(await there.durable.resume()).toMatchObject({ resumed: 1 })
    await turns()
    answer()
    await turns()
    expect(started).toEqual(['there'])
    expect(await isSettled(result)).toBe(false)
    ending.resolve('by another process')
    expect(await result).toBe('by another process')
    const outcomes = (await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).map(
      ({ outcome }) => outcome,
    )
    expect(outcomes).toEqual(['interrupted', 'success'])
    expect(started).toEqual(['there'])
    await here.durable.close()
    await there.durable.close()
  })

  it('ends with timeout and does not start when the time of the whole task has passed', async () => {
    const breaker = { key: 'mail', failureThreshold: 1, recoveryTimeout: '1h' } as const
    const policy = verb === 'claim' ? { timeout: '5s', breaker } : { timeout: '5s' }
    const { model, here, result, started, answer } = await lateStart(verb, policy, 6000)
    const error = rejection(result)
    answer()
    expect(await error).toMatchObject({ stopReason: 'timeout', attempts: 1 })
    expect(started).toEqual([])
    const [row] = await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })
    expect(row).toMatchObject({ outcome: 'timeout', failure: { name: 'CallTimeoutError' } })
    // The dependency behind the breaker was not called.
    for (const gate of await model.ledger.gates()) expect(gate.state).toMatchObject({ phase: 'closed', failures: 0 })
    await here.durable.close()
  })

  it('starts with the time that is left of the whole task', async () => {
    const { here, result, started, answer } = await lateStart(verb, { timeout: '5s' }, 3000)
    answer()
    expect(await result).toBe('by this process')
    expect(started).toEqual(['here'])
    await here.durable.close()
  })

  it('starts when nobody has', async () => {
    const { model, here, result, started, answer } = await lateStart(verb)
    await turns()
    expect(started).toEqual([])
    answer()
    expect(await result).toBe('by this process')
    expect(started).toEqual(['here'])
    expect(await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).toHaveLength(1)
    await here.durable.close()
  })
})

describe('an attempt whose lease passes while its checkpoint is read', () => {
  it('does not start, and is given back without counting as made', async () => {
    const letGo = deferred()
    let isHeld = false
    const model = new ProcessModel((ledger) =>
      withVerbs(ledger, {
        checkpoint: async (key) => {
          const value = await ledger.checkpoint(key)
          if (isHeld) await letGo.promise
          return value
        },
      }),
    )
    const here = await model.open()
    const starts: number[] = []
    const policy = { attempts: 3, initialDelay: '1s', jitter: false, backoff: 'fixed' } as const
    const task = here.durable.task<null, string, number>('t', policy, async (_input, context) => {
      starts.push(model.now)
      if (starts.length > 1) return 'done'
      await context.checkpoint(7)
      throw new Error('no')
    })
    const result = task.run(null, { id: 'a' })
    await turns()
    isHeld = true
    await model.clock.advance(1000)
    await turns()
    const secondMs = model.now
    await model.clock.advance(LEASE_MS)
    isHeld = false
    letGo.resolve()
    expect(await result).toBe('done')
    // Not with the answer that came after the lease, but by a claim of its own.
    expect(starts[1]).toBeGreaterThan(secondMs)
    const rows = await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })
    expect(rows.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'failure'],
      [2, 'interrupted'],
      [2, 'success'],
    ])
    await here.durable.close()
  })
})
