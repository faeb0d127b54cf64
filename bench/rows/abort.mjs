/** Abort during a wait. */
import { getEventListeners, setMaxListeners } from 'node:events'
import { waitingOnSignal } from '../floors.mjs'
import { figure } from '../goals.mjs'
import { failure, sleep } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const DELAY_MS = 60
const OURS = 'reprise: executor.run'
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** One call aborted in its wait. @param {import('../harness.mjs').Call} call */
async function abortOne(call) {
  const controller = new AbortController()
  const reason = new Error('enough')
  const before = timers()
  let calls = 0
  let settled = false
  /** @type {unknown} */
  let rejection
  const end = call(async () => {
    calls++
    throw failure
  }, controller.signal).catch((error) => {
    rejection = error
    settled = true
  })
  await sleep(10)
  const made = calls
  const start = performance.now()
  controller.abort(reason)
  for (let hop = 0; hop < 200 && !settled; hop++) await null
  const sameTurn = settled ? 1 : 0
  await end
  const ms = performance.now() - start
  const left = { timers: timers() - before, listeners: getEventListeners(controller.signal, 'abort').length }
  await sleep(2 * DELAY_MS)
  return { sameTurn, ms, calls: calls - made, ...left, reason: rejection === reason ? 1 : 0 }
}

/** Milliseconds from `abort()` until the last of n waiting calls has been rejected. */
async function abortMany(/** @type {import('../harness.mjs').Call} */ call, /** @type {number} */ n) {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  let open = n
  const op = async () => {
    throw failure
  }
  const all = new Promise((resolve) => {
    const settled = () => --open === 0 && resolve(undefined)
    for (let i = 0; i < n; i++) call(op, controller.signal).then(settled, settled)
  })
  await sleep(100)
  const start = performance.now()
  controller.abort(new Error('enough'))
  await all
  return performance.now() - start
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Abort during a wait',
  unit: 'ms',
  columns: {
    sameTurn: 'rejected in the turn of abort()',
    ms: 'after, ms',
    calls: 'further calls',
    timers: 'timers left',
    listeners: 'listeners left',
    reason: 'with the caller’s reason',
    many: '10 000 aborted at once, ms',
  },
  note: 'Peers without a signal are left out.',
  floor: 'one listener and a set of those that wait: rejected in the same turn, and nothing left.',
  goals: [
    {
      what: 'not rejected in the turn of abort()',
      value: (figures) => figures[OURS] && 1 - figures[OURS].sameTurn,
      goal: 0,
      unit: '',
    },
    { what: 'further calls', value: figure(OURS, 'calls'), goal: 0, unit: '' },
    { what: 'timers left', value: figure(OURS, 'timers'), goal: 0, unit: '' },
    { what: 'listeners left', value: figure(OURS, 'listeners'), goal: 0, unit: '' },
  ],
  measure: async ({ quick }) => {
    /** @returns {Record<string, import('../harness.mjs').Call>} */
    const pick = (/** @type {number} */ delayMs) => {
      const options = { retries: 1, delayMs }
      const { 'p-retry': pRetry, effect, cockatiel } = peers.retrying(options)
      const { 'reprise: retry': _, ...mine } = ours.retrying(options)
      return {
        'floor: one listener and a set': waitingOnSignal(delayMs),
        'p-retry': pRetry,
        effect,
        cockatiel,
        ...mine,
      }
    }
    const short = pick(DELAY_MS)
    const long = pick(60_000)
    /** @type {import('../harness.mjs').Figures} */
    const figures = {}
    for (const name of Object.keys(short)) {
      await abortOne(short[name])
      figures[name] = await abortOne(short[name])
      // cockatiel's waits do not end at an abort
      if (name !== 'cockatiel') figures[name].many = await abortMany(long[name], quick ? 2000 : 10_000)
    }
    return figures
  },
}
