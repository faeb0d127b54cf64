/** Many waits on one AbortSignal. */
import { setMaxListeners } from 'node:events'
import { waitingOnSignal } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import { chosen, failing, median, timed } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const DELAY_MS = 50
const FLOOR = 'floor: one listener, a set and timers'
const OURS = 'reprise: executor.run'

/** Microseconds of CPU per call: n calls wait at once, `each` of them on one signal; 0: without a signal. */
async function wave(
  /** @type {import('../harness.mjs').Call} */ call,
  /** @type {number} */ n,
  /** @type {number} */ each,
) {
  const signals = Array.from({ length: each && Math.ceil(n / each) }, () => {
    const { signal } = new AbortController()
    setMaxListeners(0, signal)
    return signal
  })
  const makeOp = failing(1)
  const all = new Array(n)
  const ns = await timed(async () => {
    for (let i = 0; i < n; i++) all[i] = call(makeOp(), signals[Math.floor(i / each)])
    for (let i = 0; i < n; i++) await all[i]
  })
  return ns / n / 1000
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: '10 000 waits on one AbortSignal',
  unit: 'µs',
  columns: {
    added: 'added by one signal for 10 000, µs a wait',
    none: 'no signal, µs a call',
    many: '10 000 on one, µs a call',
    one: 'one each, µs a call',
    hundred: '100 on one, µs a call',
    most: '100 000 on one, µs a call',
  },
  note:
    'CPU time of a call that fails once, waits 50 ms and succeeds, 10 000 such calls at once (100 000 in the last column, where a ' +
    'peer that costs ever more is left out). The first column is what one signal for all adds to a call. Peers that do not listen ' +
    'during a wait are left out. One process for each candidate.',
  processes: 3,
  candidates: [FLOOR, 'p-retry', 'effect', OURS],
  floor: 'one listener for the signal, a set of those that wait on it, and a timer of Node for each.',
  goals: [
    { what: 'executor.run ÷ p-retry', value: ratio(OURS, 'p-retry', 'added'), goal: 0.1 },
    {
      what: 'flat: 100 000 waits on one signal ÷ one each or 100 on one, whichever costs less',
      value: (figures) => figures[OURS] && figures[OURS].most / Math.min(figures[OURS].one, figures[OURS].hundred),
      goal: 2,
    },
  ],
  measure: async ({ quick, candidate }) => {
    const options = { retries: 1, delayMs: DELAY_MS }
    const calls = { [FLOOR]: waitingOnSignal(DELAY_MS), ...peers.retrying(options), ...ours.retrying(options) }
    const call = chosen(calls, candidate)
    const cheap = candidate === FLOOR || candidate === OURS
    const rounds = quick ? 1 : 5
    const widths = {
      none: [10_000, 0],
      many: [10_000, 10_000],
      ...((cheap || !quick) && { one: [10_000, 1], hundred: [10_000, 100] }),
      ...(cheap && { most: [100_000, 100_000] }),
    }
    for (let i = 0; i < 3; i++) await wave(call, cheap ? 10_000 : 2000, 30 * (i % 2))
    /** @type {Record<string, number[]>} */
    const samples = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, [n, each]] of Object.entries(widths)) (samples[name] ??= []).push(await wave(call, n, each))
    }
    const medians = Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, median(values)]))
    return { [candidate]: { added: medians.many - medians.none, ...medians } }
  },
}
