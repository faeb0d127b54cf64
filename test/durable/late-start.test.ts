/** An attempt whose beginning was written, and whose process heard of that only after its lease: it may be another's. */
import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { withVerbs } from './with-verbs.js'
import { deferred, type Host, isSettled, LEASE_MS, turns, World } from './world.js'

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

interface Scene {
  readonly world: World
  readonly here: Host
  readonly result: Promise<string>
  readonly started: string[]
  readonly answer: () => void
}

/** A task that is written as running here, and a lease that has passed before anybody here knows. */
async function scene(verb: 'claim' | 'create'): Promise<Scene> {
  const letGo = deferred()
  const world = new World((ledger) => withheld(ledger, verb, letGo.promise))
  const here = await world.open()
  const started: string[] = []
  const task = here.durable.task<null, string>('t', {}, () => {
    started.push('here')
    return 'by this process'
  })
  // What is started is claimed, what is waited for is written as running at once.
  if (verb === 'claim') await task.start(null, { id: 'a' })
  await turns()
  const result = task.run(null, { id: 'a' })
  await turns()
  expect(await world.task('t', 'a')).toMatchObject({ status: 'running', owner: here.line.owner?.id })
  await world.clock.advance(LEASE_MS)
  return { world, here, result, started, answer: () => letGo.resolve() }
}

describe.each(['claim', 'create'] as const)('an attempt whose %s was answered after the lease', (verb) => {
  it('does not start when another process has taken it over', async () => {
    const { world, here, result, started, answer } = await scene(verb)
    const there = await world.open()
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
    const outcomes = (await world.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).map(
      ({ outcome }) => outcome,
    )
    expect(outcomes).toEqual(['interrupted', 'success'])
    expect(started).toEqual(['there'])
    await here.durable.close()
    await there.durable.close()
  })

  it('starts when nobody has', async () => {
    const { world, here, result, started, answer } = await scene(verb)
    await turns()
    expect(started).toEqual([])
    answer()
    expect(await result).toBe('by this process')
    expect(started).toEqual(['here'])
    expect(await world.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).toHaveLength(1)
    await here.durable.close()
  })
})
