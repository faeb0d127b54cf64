/** Heap per pending retry, each in its caller's async context. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ratio } from '../goals.mjs'
import { chosen, fail, failure, sleep } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const HOUR = 3_600_000
const FLOOR = 'floor: a bare timer'
const storage = new AsyncLocalStorage()
const tenants = Array.from({ length: 100 }, (_, id) => ({ id }))

/** Whether the second attempt of each of two interleaved calls runs in its own caller's context. */
async function keepsContext(/** @type {import('../harness.mjs').Call} */ call) {
  const seen = await Promise.all(
    tenants.slice(0, 10).map((tenant) =>
      storage.run(tenant, async () => {
        let calls = 0
        return call(async () => {
          if (++calls === 1) throw failure
          return storage.getStore() === tenant
        })
      }),
    ),
  )
  return seen.every(Boolean)
}

const { gc: collectNow } = /** @type {{ gc: () => void }} */ (/** @type {unknown} */ (globalThis))

/** What is in use when nothing is left to collect. */
const collect = async () => {
  for (let i = 0; i < 4; i++) {
    await sleep(20)
    collectNow()
  }
  return process.memoryUsage().heapUsed
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Heap per pending retry, async context kept',
  unit: 'B',
  columns: { bytes: 'heap, B', context: 'context kept' },
  note:
    'An `AsyncLocalStorage` is in use; 100 000 calls have failed once and wait for an hour. Heap after collection, the caller’s promise ' +
    'included. One process for each candidate.',
  floor: 'a promise, a timer of Node and its closures.',
  flags: ['--expose-gc'],
  processes: 3,
  candidates: [FLOOR, ...Object.keys(peers.retrying()), 'reprise: executor.run'],
  goals: [
    {
      what: 'executor.run ÷ cockatiel',
      value: ratio('reprise: executor.run', 'cockatiel', 'bytes'),
      floor: ratio(FLOOR, 'cockatiel', 'bytes'),
      goal: 0.5,
      stretch: 0.4,
    },
  ],
  measure: async ({ quick, candidate }) => {
    const n = quick ? 6000 : 100_000
    /** @type {any} */
    const bare = (/** @type {any} */ op) => (op === fail ? setTimeout(fail, HOUR) : op().catch(op))
    const pick = (/** @type {number} */ delayMs) =>
      chosen(
        { [FLOOR]: bare, ...peers.retrying({ retries: 1, delayMs }), ...ours.retrying({ retries: 1, delayMs }) },
        candidate,
      )
    const context = (await keepsContext(pick(1))) ? 1 : 0
    const call = pick(HOUR)
    const held = new Array(n).fill(null)
    const start = (/** @type {number} */ i) => {
      held[i] = storage.run(tenants[i % tenants.length], () => call(fail))
    }
    // the first thousand bring code and tables into being and are not counted
    for (let i = 0; i < 1000; i++) start(i)
    const before = await collect()
    for (let i = 1000; i < n; i++) {
      start(i)
      if (i % 1000 === 0) await sleep(0)
    }
    const after = await collect()
    return { [candidate]: { bytes: (after - before) / (n - 1000), context } }
  },
}
