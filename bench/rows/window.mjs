/** One failure with 100 000 calls in the window. */
import { figure } from '../goals.mjs'
import { fail, median, rejecting, sequential, shuffled, succeed, timed } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const SIZE = 100_000

/**
 * Microseconds of one failing call, the median of several, after 100 000 successes: in the same window, or in that of
 * another instance, so that the engine and the collector have had the same to do.
 * @param {() => import('../harness.mjs').Call} make
 */
async function failureAfter(
  make,
  /** @type {boolean} */ full,
  /** @type {number} */ size,
  /** @type {number} */ failures,
) {
  const call = make()
  await sequential(full ? call : make(), succeed)(size)
  const one = rejecting(call, fail)
  const samples = []
  for (let i = 0; i < failures; i++) samples.push((await timed(() => one(1), 'wall')) / 1000)
  return median(samples)
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'One failure with 100 000 calls in the window',
  unit: 'µs',
  columns: { full: 'with 100 000 calls, µs', empty: 'with none, µs', factor: 'factor' },
  note:
    'Wall time of a failing call. Reprise: a breaker and a ratio budget with one retry. mollitia copies its window at every call: ' +
    'filling it takes minutes, so it is left out.',
  floor: 'an empty window: what a failure costs should not depend on the calls before it.',
  goals: [{ what: 'full window ÷ empty window', value: figure('reprise', 'factor'), goal: 2 }],
  measure: async ({ quick }) => {
    /** @type {Record<string, () => import('../harness.mjs').Call>} */
    const makers = { ...peers.windows(SIZE), ...ours.windows() }
    const failures = quick ? 20 : 50
    /** @type {Record<string, { full: number[], empty: number[] }>} */
    const samples = {}
    for (const name of shuffled(Object.keys(makers))) {
      samples[name] = { full: [], empty: [] }
      for (let i = 0; i < 3; i++) await failureAfter(makers[name], true, 1000, 500)
    }
    for (let round = 0; round < (quick ? 3 : 7); round++) {
      for (const name of shuffled(Object.keys(makers))) {
        samples[name].empty.push(await failureAfter(makers[name], false, SIZE, failures))
        samples[name].full.push(await failureAfter(makers[name], true, SIZE, failures))
      }
    }
    return Object.fromEntries(
      Object.entries(samples).map(([name, { full, empty }]) => [
        name,
        { full: median(full), empty: median(empty), factor: median(full) / median(empty) },
      ]),
    )
  },
}
