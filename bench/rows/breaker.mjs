/** Success overhead with retry, breaker and budget. */
import { floors } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'
import { columns, LEAST, overhead } from './success.mjs'

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Success overhead, + breaker + budget',
  unit: 'ns',
  columns,
  note: 'As before, with a circuit breaker and, for Reprise, a token bucket. No peer has a budget.',
  floor: 'one `.then`; a token bucket also reads the time, which is the same for a turn of many calls.',
  goals: [
    {
      what: 'executor.run ÷ cockatiel',
      value: ratio('reprise: executor.run', 'cockatiel (no budget)', 'ns'),
      floor: ratio(LEAST, 'cockatiel (no budget)', 'ns'),
      goal: 0.2,
      stretch: 0.15,
    },
  ],
  measure: ({ quick }) => overhead({ ...floors, ...peers.breaking(), ...ours.breaking() }, quick),
}
