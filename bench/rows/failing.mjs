/** The failing path: two failures, then success, without delay. CPU. */
import { loop } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import { column, concurrent, failing, turns } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

const LOOP = 'floor: a loop'

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Failing path, 2 failures then success, zero delay: CPU',
  unit: 'µs',
  columns: { us: 'CPU, µs a call' },
  note: 'CPU time of a whole call, 100 calls at once so that timers of a peer share their turn. The floor is a hand-written loop.',
  floor: 'a loop with `await` and without a wait.',
  goals: [
    {
      what: 'executor.run ÷ fastest peer',
      value: ratio('reprise: executor.run', undefined, 'us'),
      floor: ratio(LOOP, undefined, 'us'),
      goal: 0.5,
    },
    {
      what: 'executor.run ÷ floor',
      value: ratio('reprise: executor.run', LOOP, 'us'),
      goal: Infinity,
      stretch: 1.3,
    },
  ],
  measure: async ({ quick }) => {
    const calls = { 'floor: a loop': loop, ...peers.retrying(), ...ours.retrying() }
    const batches = Object.entries(calls).map(([name, call]) => [name, concurrent(call, failing(2))])
    return column('us', await turns(Object.fromEntries(batches), { quick }), 1e-3)
  },
}
