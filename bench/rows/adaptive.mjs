/** What the adaptive budget costs: a call that succeeds, a key, a parked call, an event while many keys wait. */
import { ratio } from '../goals.mjs'
import { chosen, fail, median, sleep } from '../harness.mjs'
import * as ours from '../reprise.mjs'
import { overhead } from './success.mjs'

const PATIENCE_MS = 3000
const KEYS = 1000
const PARKED = 10_000
/** Long enough without an answer for the budget to hold first attempts. */
const SILENCE_MS = 0.6 * PATIENCE_MS

const bulkhead = () => ours.reprise.adaptiveBudget({ bulkhead: true })
const hang = () => new Promise(() => {})
const { gc: collectNow } = /** @type {{ gc: () => void }} */ (/** @type {unknown} */ (globalThis))

/** Heap in use when nothing is left to collect. */
async function collect() {
  for (let i = 0; i < 4; i++) {
    await sleep(20)
    collectNow()
  }
  return process.memoryUsage().heapUsed
}

/** Bytes of one of the `n` things that `make(i)` makes. @param {(i: number) => unknown} make @param {number} n */
async function bytesOf(make, n) {
  const held = new Array(n).fill(null)
  const before = await collect()
  for (let i = 0; i < n; i++) held[i] = make(i)
  const after = await collect()
  return held.length === n ? (after - before) / n : NaN
}

/** A clock that stands still until `nowMs` is set, so that no parked call is granted or expires. */
function stillClock() {
  const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs, schedule() {}, cancel() {} }
  return clock
}

/** @param {string} key @param {number} now */
const request = (key, now) => ({
  key,
  attempt: 1,
  launch: 1,
  kind: 'retry',
  ref: { name: 'recommended', cost: 1 },
  now,
  deadlineMs: 1e9,
  attemptTimeoutMs: PATIENCE_MS,
})

/** Keys whose one call succeeded. */
async function keyBytes() {
  const names = Array.from({ length: KEYS }, (_, i) => `service-${i}`)
  const use = () => {
    const budget = ours.reprise.perKey(bulkhead)
    for (const name of names) {
      const asked = request(name, 0)
      budget.allowAttempt(asked)
      budget.conclude(asked, { result: 'success', latencyMs: 5, won: true, now: 5 })
    }
    return budget
  }
  // the first brings code and hidden classes into being
  use()
  return (await bytesOf(use, 20)) / KEYS
}

/**
 * Calls of an executor whose budget lets no more attempts start.
 * @param {'first' | 'retry'} which attempt is parked
 */
async function parkedBytes(which) {
  const clock = stillClock()
  const options = ours.reprise.recommended({ attemptTimeout: PATIENCE_MS, timeout: '1h', initialDelay: 0 })
  const executor = ours.reprise.createExecutor({ ...options, clock })
  const park = () => executor.run('service', which === 'first' ? hang : fail)
  // the first is in flight or has the one credit; the others bring code and tables into being and are not counted
  const others = [park()]
  clock.nowMs = which === 'first' ? SILENCE_MS : 0
  for (let i = 0; i < 1000; i++) others.push(park())
  await sleep(10)
  const bytes = await bytesOf(park, PARKED)
  const { parked } = options.budgets.recommended.of('service')
  if (parked < PARKED) throw new Error(`${parked} calls are parked of ${PARKED} and ${others.length}`)
  return bytes
}

/** CPU time of an event of one key while `keys` keys have a call in line, with the driver's question when to poll. */
function eventNs(/** @type {number} */ keys, /** @type {boolean} */ quick) {
  const budget = ours.reprise.perKey(bulkhead)
  const requests = Array.from({ length: keys }, (_, i) => request(`service-${i}`, SILENCE_MS))
  for (const asked of requests) {
    budget.allowAttempt({ ...asked, now: 0 })
    budget.park(asked, () => {
      throw new Error('a call was let out of the line')
    })
  }
  const failed = { result: 'failure', latencyMs: 5, won: false, now: SILENCE_MS }
  let wakes = 0
  const round = (/** @type {number} */ events) => {
    const { user, system } = process.cpuUsage()
    for (let i = 0; i < events; i++) {
      // a prime step visits the keys out of order
      const asked = requests[(i * 7919) % keys]
      if (i % 2 === 0) budget.allowAttempt(asked)
      else budget.conclude(asked, failed)
      if (budget.wakeAtMs() > 0) wakes++
    }
    const used = process.cpuUsage({ user, system })
    return ((used.user + used.system) * 1000) / events
  }
  const events = quick ? 50_000 : 300_000
  round(events)
  const ns = median(Array.from({ length: 9 }, () => round(events)))
  return wakes > 0 ? ns : NaN
}

/** By the candidate of a process. @type {Record<string, (quick: boolean) => Promise<import('../harness.mjs').Figures>>} */
const parts = {
  'reprise: calls': (quick) => overhead(ours.adapting(), quick),
  'reprise: keys': async () => ({ 'reprise: a key': { bytes: await keyBytes() } }),
  'reprise: first attempts in line': async () => ({
    'reprise: a call in line with its first attempt': { bytes: await parkedBytes('first') },
  }),
  'reprise: retries in line': async () => ({
    'reprise: a call in line with its retry': { bytes: await parkedBytes('retry') },
  }),
  'reprise: events': async (quick) => ({
    'reprise: an event, 1 key waits': { event: eventNs(1, quick) },
    'reprise: an event, 1 000 keys wait': { event: eventNs(KEYS, quick) },
  }),
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Adaptive budget, recommended settings',
  unit: 'ns',
  columns: { ns: 'overhead, CPU ns a call', whole: 'whole call, ns', bytes: 'heap, B', event: 'CPU ns an event' },
  note:
    '`recommended()` without its budget, with one `adaptiveBudget({ bulkhead: true })`, and with one for each key; calls succeed at once. ' +
    'Heap after collection: a key of 1 000 in `perKey`, a call of 10 000 in line, its promise included. An event is one question or answer at ' +
    'one key of `perKey`, with the question when to poll.',
  floor: 'the recommended policy without its budget.',
  flags: ['--expose-gc'],
  candidates: Object.keys(parts),
  goals: [
    {
      what: 'adaptive ÷ no budget, whole call',
      value: ratio('reprise: adaptive', 'reprise: no budget', 'whole'),
      goal: 2,
    },
    {
      what: 'per key ÷ no budget, whole call',
      value: ratio('reprise: adaptive, per key', 'reprise: no budget', 'whole'),
      goal: 2,
    },
    { what: 'adaptive ÷ no budget', value: ratio('reprise: adaptive', 'reprise: no budget', 'ns'), goal: 2 },
    { what: 'per key ÷ no budget', value: ratio('reprise: adaptive, per key', 'reprise: no budget', 'ns'), goal: 2 },
    {
      what: 'event, 1 000 keys wait ÷ 1 key waits',
      value: ratio('reprise: an event, 1 000 keys wait', 'reprise: an event, 1 key waits', 'event'),
      goal: 2,
    },
  ],
  measure: ({ quick, candidate }) => chosen(parts, candidate)(quick),
}
