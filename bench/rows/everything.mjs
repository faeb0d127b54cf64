/** Success overhead with everything on, the timeline included. */
import { clockFloor, floors } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'
import { columns, overhead } from './success.mjs'

const inspect = 'reprise: inspect, exact times'
const observed = 'reprise: run with an observer, exact times'
const plain = 'reprise: run, turn clock'

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Success overhead, everything on, timeline included',
  unit: 'ns',
  columns,
  note:
    'Retry, matchers, breaker, budget, attempt timeout, call timeout and time budget. `run` keeps the times of its turn and has a ' +
    'timeline when the call fails; `inspect` and observers get exact times. No peer has a timeline: the yardstick is cockatiel with a bare retry.',
  goals: [
    { what: 'inspect ÷ cockatiel’s bare retry', value: ratio(inspect, 'cockatiel', 'ns'), goal: 1.25, stretch: 1 },
    {
      what: 'run with an observer ÷ cockatiel’s bare retry',
      value: ratio(observed, 'cockatiel', 'ns'),
      goal: 1.25,
      stretch: 1,
    },
    { what: 'run ÷ cockatiel’s bare retry', value: ratio(plain, 'cockatiel', 'ns'), goal: 0.8, stretch: 0.7 },
  ],
  measure: ({ quick }) => {
    const { cockatiel } = peers.retrying()
    return overhead({ ...floors, ...clockFloor, cockatiel, ...ours.everything() }, quick)
  },
}
