/** Latency of the failing path, and whether a timer still runs while such calls follow each other. */
import { loop } from '../floors.mjs'
import { figure, ratio } from '../goals.mjs'
import { failing, sequentialFresh, shuffled, turn, turns } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const LIMIT_MS = 200

/** When a timer of 5 ms fires while calls follow each other without pause; -1: not within the limit. */
async function timerAmid(/** @type {import('../harness.mjs').Call} */ call) {
  await turn()
  let firedMs = -1
  const start = performance.now()
  const timer = setTimeout(() => {
    firedMs = performance.now() - start
  }, 5)
  while (firedMs < 0 && performance.now() - start < LIMIT_MS) await call(failing(2)())
  clearTimeout(timer)
  return firedMs
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Failing path, 2 failures then success, zero delay: latency',
  unit: 'µs',
  columns: { us: 'latency, µs a call', timerMs: 'a 5 ms timer fires after, ms' },
  note: `One call after the other, wall time. The timer is set before a row of such calls; “never” is not within ${LIMIT_MS} ms.`,
  floor: 'a loop with `await` and without a wait, during which no timer ever fires.',
  goals: [
    {
      what: 'executor.run ÷ p-retry',
      value: ratio('reprise: executor.run', 'p-retry', 'us'),
      floor: ratio('floor: a loop', 'p-retry', 'us'),
      goal: 0.5,
    },
    {
      what: 'a 5 ms timer still runs, fired after',
      value: (figures) => {
        const ms = figure('reprise: executor.run', 'timerMs')(figures)
        return ms !== undefined && ms < 0 ? Infinity : ms
      },
      goal: 25,
      unit: 'ms',
    },
  ],
  measure: async ({ quick }) => {
    /** @type {Record<string, any>} */
    const calls = { 'floor: a loop': loop, ...peers.retrying(), ...ours.retrying() }
    const batches = Object.entries(calls).map(([name, call]) => [name, sequentialFresh(call, failing(2))])
    const ns = await turns(Object.fromEntries(batches), { quick, clock: 'wall', step: 5 })
    /** @type {import('../harness.mjs').Figures} */
    const figures = {}
    for (const name of shuffled(Object.keys(calls)))
      figures[name] = { us: ns[name] / 1000, timerMs: await timerAmid(calls[name]) }
    return figures
  },
}
