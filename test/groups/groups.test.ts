/** The tally of a group is exact, though many processes end its tasks at once and are killed while they do. */
import { describe, expect, it } from 'vitest'
import { freshProgress } from '../../packages/reprise/src/durable/transitions.js'
import { fingerprint, recordOf } from '../../packages/reprise/src/durable/policy-record.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { NewTask } from '../../packages/reprise/src/ledger/ledger.js'
import { TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { bundleProgram } from '../bundled-program.js'
import { countedTally, makeTally, tallyOf } from '../durable/tally-group.js'
import { bundledFor, placeOfEach } from '../gates/shared-place.js'
import { STORES } from '../gates/stores.js'
import { until } from '../gates/until.js'
import { defineMembers, LAST, MEMBERS, RUN } from './member.js'

const TASKS = 160
const KILLS = 8
const CANCELS = 10

const program = bundledFor(() => bundleProgram(new URL('worker.ts', import.meta.url)))

/** As the handle of the task would record it. */
function lastTask(): NewTask {
  const policy = recordOf(normalizePolicy({ attempts: 3, initialDelay: '1ms', jitter: 'full' }).policy, 'rerun')
  const times = { dueAtMs: 0, createdAtMs: 0, updatedAtMs: 0 }
  const state = { generation: 1, status: 'waiting', owner: null, fence: 0, stopReason: null } as const
  const made = { progress: freshProgress(1), policyHash: policy.hash, input: null, correlationId: 'last' }
  const task = { ...LAST, queue: 'last', ...state, ...made, ...times }
  return { task, policy, payloadHash: fingerprint({ name: 'last', input: null }) }
}

describe.each(STORES)('a group shared by $name', (store) => {
  const place = placeOfEach(store)

  const start = (): Promise<unknown> => place.start(program(), JSON.stringify(lastTask()))

  const ended = async (): Promise<number> =>
    (await place.ledger.list(MEMBERS)).filter(({ status }) => TERMINAL.has(status)).length

  it('has an exact tally over kills and cancellations, and its last task once', { timeout: 180_000 }, async () => {
    await makeTally(place.ledger, RUN, TASKS)
    const submitter = await openDurable(place.address, { concurrency: 1, synchronous: 'normal' })
    const members = defineMembers(submitter, lastTask())
    await submitter.drain()
    const inputs = Array.from({ length: TASKS }, (_, index) => ({ id: `m${index}`, input: { fails: index % 4 } }))
    await members.startAll(inputs)
    await Promise.all(Array.from({ length: store.workers.processes }, start))
    for (let kill = 1; kill <= KILLS; kill++) {
      const share = (TASKS * kill) / (KILLS + 2)
      await until(async () => (await ended()) >= share, `the end of ${share} tasks`)
      const [child] = place.living
      await Promise.all([place.kill(child), start()])
    }
    // Some are over by now: those stay as they are.
    for (const { id } of inputs.slice(-CANCELS)) await members.cancel(id)
    await until(async () => (await ended()) === TASKS, 'the end of all tasks')
    const tally = await tallyOf(place.ledger, RUN)
    expect(tally).toEqual(await countedTally(place.ledger, 'member'))
    expect(tally).toMatchObject({ fresh: 0, retrying: 0, undecided: 0 })
    expect(tally.succeeded + tally.failed + tally.cancelled).toBe(TASKS)
    expect(tally.failed).toBeGreaterThan(0)
    await until(async () => (await place.ledger.get(LAST))?.status === 'succeeded', 'the end of the last task')
    await submitter.close()
  })
})
