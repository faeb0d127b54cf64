/** The tally of a group is exact, though many processes end its tasks at once and are killed while they do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshProgress } from '../../packages/reprise/src/durable/transitions.js'
import { fingerprint, recordOf } from '../../packages/reprise/src/durable/policy-record.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { Ledger, NewTask } from '../../packages/reprise/src/ledger/ledger.js'
import { TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { openDurable, openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import { countedTally, makeTally, tallyOf } from '../durable/tally-group.js'
import { type Place, STORES } from '../gates/stores.js'
import { defineMembers, LAST, MEMBERS, RUN } from './member.js'

const TASKS = 160
const KILLS = 8
const CANCELS = 10

let program: BundledProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('worker.ts', import.meta.url))
})
afterAll(() => program?.remove())

/** As the handle of the task would record it. */
function lastTask(): NewTask {
  const policy = recordOf(normalizePolicy({ attempts: 3, initialDelay: '1ms' }).policy, 'rerun')
  const times = { dueAtMs: 0, createdAtMs: 0, updatedAtMs: 0 }
  const state = { generation: 1, status: 'waiting', owner: null, fence: 0, stopReason: null } as const
  const made = { progress: freshProgress(1), policyHash: policy.hash, input: null, correlationId: 'last' }
  const task = { ...LAST, queue: 'last', ...state, ...made, ...times }
  return { task, policy, payloadHash: fingerprint({ name: 'last', input: null }) }
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + 90_000
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`${what} did not come true`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe.each(STORES)('a group shared by $name', (store) => {
  let place: Place
  let ledger: Ledger
  const living = new Set<ChildProcess>()
  beforeEach(async () => {
    place = await store.make()
    ledger = await openLedger(place.address)
  })
  afterEach(async () => {
    for (const child of living) child.kill('SIGKILL')
    living.clear()
    await ledger?.close()
    await place?.remove()
  })

  async function start(): Promise<void> {
    const args = [program.file, place.address, JSON.stringify(lastTask())]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    living.add(child)
    child.once('exit', () => living.delete(child))
    await new Promise((resolve) => child.stdout.once('data', resolve))
  }

  async function killOne(): Promise<void> {
    const [child] = living
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  const ended = async (): Promise<number> =>
    (await ledger.list(MEMBERS)).filter(({ status }) => TERMINAL.has(status)).length

  it('has an exact tally over kills and cancellations, and its last task once', { timeout: 180_000 }, async () => {
    await makeTally(ledger, RUN, TASKS)
    const submitter = await openDurable(place.address, { concurrency: 1, synchronous: 'normal' })
    const members = defineMembers(submitter, lastTask())
    await submitter.drain()
    const inputs = Array.from({ length: TASKS }, (_, index) => ({ id: `m${index}`, input: { fails: index % 4 } }))
    await members.startAll(inputs)
    await Promise.all(Array.from({ length: store.hands.processes }, start))
    for (let kill = 1; kill <= KILLS; kill++) {
      const share = (TASKS * kill) / (KILLS + 2)
      await until(async () => (await ended()) >= share, `the end of ${share} tasks`)
      await Promise.all([killOne(), start()])
    }
    // Some are over by now: those stay as they are.
    for (const { id } of inputs.slice(-CANCELS)) await members.cancel(id)
    await until(async () => (await ended()) === TASKS, 'the end of all tasks')
    const tally = await tallyOf(ledger, RUN)
    expect(tally).toEqual(await countedTally(ledger, 'member'))
    expect(tally).toMatchObject({ fresh: 0, retrying: 0, undecided: 0 })
    expect(tally.succeeded + tally.failed + tally.cancelled).toBe(TASKS)
    expect(tally.failed).toBeGreaterThan(0)
    await until(async () => (await ledger.get(LAST))?.status === 'succeeded', 'the end of the last task')
    await submitter.close()
  })
})
