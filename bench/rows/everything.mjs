/** Success overhead with everything on, the timeline included. */
import { clockFloor, floors } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'
import { columns, overhead } from './success.mjs'

const BARE = 'cockatiel'
const LIKE = 'cockatiel with breaker and timeout'
const LEAST = 'floor: .then and two clock reads'
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
  floor:
    'a `.then` and two readings of the clock, for a start and an end; the limits add an entry in timers that calls share, or a timer of Node as in the third line.',
  goals: [
    {
      what: 'inspect ÷ cockatiel’s bare retry',
      value: ratio(inspect, BARE, 'ns'),
      floor: ratio(LEAST, BARE, 'ns'),
      goal: 3.2,
      stretch: 2,
    },
    {
      what: 'run with an observer ÷ cockatiel’s bare retry',
      value: ratio(observed, BARE, 'ns'),
      floor: ratio(LEAST, BARE, 'ns'),
      goal: 4,
      stretch: 3,
    },
    {
      what: 'run ÷ cockatiel’s bare retry',
      value: ratio(plain, BARE, 'ns'),
      floor: ratio(LEAST, BARE, 'ns'),
      goal: 1.6,
      stretch: 1.3,
    },
    { what: 'run ÷ cockatiel with breaker and timeout', value: ratio(plain, LIKE, 'ns'), goal: 0.05 },
  ],
  measure: ({ quick }) => {
    const calls = { [BARE]: peers.retrying()[BARE], [LIKE]: peers.timingOut()['cockatiel (no budget)'] }
    return overhead({ ...floors, ...clockFloor, ...calls, ...ours.everything() }, quick)
  },
}
