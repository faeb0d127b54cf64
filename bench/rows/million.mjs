/** A million retries, scheduled and fired. */
import { waiting } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import { chosen, failing, sleep, timed, turn } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const FLOOR = 'floor: a failure, a promise and a timer'
const TIMER = 'floor: a promise and a timer'

/** n calls that fail once and wait, 1 000 started in each turn. @param {import('../harness.mjs').Call} call */
async function stream(call, /** @type {number} */ n) {
  const makeOp = failing(1)
  let open = 0
  /** @type {() => void} */
  let done = () => {}
  const settled = () => {
    if (--open === 0) done()
  }
  for (let i = 0; i < n; i += 1000) {
    for (let j = 0; j < 1000; j++) {
      open++
      call(makeOp()).then(settled)
    }
    await turn()
  }
  if (open > 0) await new Promise((resolve) => (done = () => resolve(undefined)))
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: '1 000 000 retries, schedule + fire',
  unit: 'µs',
  columns: { us: 'CPU, µs a call' },
  note:
    'CPU time of a call that fails once, waits a second and succeeds; 1 000 calls start in each turn, so that about a hundred thousand ' +
    'wait at once. One process for each candidate; those beyond 20 µs run 200 000.',
  floor: 'a failed call, a promise and a timer of Node for each; the timers of one turn share a list.',
  processes: 3,
  candidates: [TIMER, FLOOR, ...Object.keys(peers.retrying()), 'reprise: executor.run'],
  goals: [
    {
      what: 'executor.run ÷ cockatiel',
      value: ratio('reprise: executor.run', 'cockatiel', 'us'),
      floor: ratio(FLOOR, 'cockatiel', 'us'),
      goal: 0.55,
      stretch: 0.45,
    },
  ],
  measure: async ({ quick, candidate }) => {
    const delayMs = quick ? 200 : 1000
    const options = { retries: 1, delayMs }
    const calls = {
      [TIMER]: () => sleep(delayMs),
      [FLOOR]: waiting(delayMs),
      ...peers.retrying(options),
      ...ours.retrying(options),
    }
    const call = chosen(calls, candidate)
    const few = quick ? 2000 : 100_000
    const slow = (await timed(() => stream(call, few))) / few > 20_000
    const n = slow ? 2 * few : 10 * few
    return { [candidate]: { us: (await timed(() => stream(call, n))) / n / 1000 } }
  },
}
