/** Success overhead with retry, breaker, budget and a timeout for each attempt. */
import { floors, timerFloor } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'
import { columns, overhead } from './success.mjs'

const TIMER = 'floor: .then, setTimeout and clearTimeout'

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Success overhead, + attempt timeout',
  unit: 'ns',
  columns,
  note: 'As before, each attempt with a timeout of 1 s that also ends an operation that ignores its signal.',
  floor: 'a `.then` with a timer of Node that is set and cleared; a timer that all calls share can cost less.',
  goals: [
    {
      what: 'executor.run ÷ opossum',
      value: ratio('reprise: executor.run', 'opossum (no retry, no budget)', 'ns'),
      floor: ratio(TIMER, 'opossum (no retry, no budget)', 'ns'),
      goal: 0.27,
      stretch: 0.2,
    },
  ],
  measure: ({ quick }) => overhead({ ...floors, ...timerFloor, ...peers.timingOut(), ...ours.timingOut() }, quick),
}
