/** A run that is stopped while the commit of an attempt is on its way. */
import { expect, test } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { withVerbs } from './with-verbs.js'
import { deferred, LEASE_MS, turns, until, ProcessModel } from './process-model.js'

const NEW = { id: 'night-1', kind: 'test', name: 'night', definition: {}, fingerprint: 'f1' }
/** A failed attempt is followed by the next one in the same commit. */
const AT_ONCE = { attempts: 9, initialDelay: 0, jitter: false } as const

/** The writes of the one step: the second is answered when `answered` says so. Reads and later writes take a while. */
function delayed(ledger: Ledger, answered: Promise<void>): Ledger {
  let writes = 0
  return withVerbs(ledger, {
    get: async (key) => {
      await turns()
      return ledger.get(key)
    },
    transact: async (keys, decide) => {
      const write = keys.tasks.length === 0 ? 0 : ++writes
      if (write > 2) await turns()
      const answer = await ledger.transact(keys, decide)
      if (write === 2) await answered
      return answer
    },
  })
}

test('a stop waits for the attempt that was committed with the failure before it, and heard of after the lease', async () => {
  const answered = deferred()
  const model = new ProcessModel((ledger) => delayed(ledger, answered.promise))
  const { durable } = await model.open()
  const run = await durable.runs.start(NEW)
  const starts: number[] = []
  const step = run.step('step', AT_ONCE, (_input, { attempt }) => {
    starts.push(attempt)
    throw new Error('no')
  })
  const ended = step.run().catch((error: unknown) => error)
  const recorded = async () => (await model.ledger.list({ scopeKind: 'run', scope: NEW.id }))[0]
  await until(async () => (await recorded())?.progress.current?.attempt === 2, 'the second attempt')
  const stopped = run.stop()
  // So late that the process looks first whether another one has taken the task.
  await model.clock.advance(LEASE_MS)
  answered.resolve()
  await stopped
  expect(await recorded()).toMatchObject({ status: 'waiting', owner: null, progress: { current: { attempt: 2 } } })
  expect(await ended).toMatchObject({ kind: 'closed' })
  expect(starts).toEqual([1])
  await durable.close()
})
