/** Success overhead with retry only. */
import { bare, floors } from '../floors.mjs'
import { ratio } from '../goals.mjs'
import { sequential, succeed, turns } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

/** The floor of every row of this kind. */
export const LEAST = 'floor: one .then'

/** The columns of every row of this kind. */
export const columns = { ns: 'overhead, CPU ns a call', whole: 'whole call, ns' }

/** Turns of calls that succeed; the overhead is what a call costs beyond the bare operation. @param {Record<string, any>} calls */
export async function overhead(calls, /** @type {boolean} */ quick) {
  const batches = Object.entries({ ...bare, ...calls }).map(([name, call]) => [name, sequential(call, succeed)])
  const { bare: least, ...rest } = await turns(Object.fromEntries(batches), { quick })
  return Object.fromEntries(Object.entries(rest).map(([name, whole]) => [name, { ns: whole - least, whole }]))
}

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Success overhead, retry only',
  unit: 'ns',
  columns,
  note: 'CPU time of a call that succeeds at once, less that of the bare operation. 100 calls a turn of the event loop.',
  floor: 'one `.then`: a call that may be retried has to hear how its operation ends.',
  goals: [
    {
      what: 'executor.run ÷ cockatiel',
      value: ratio('reprise: executor.run', 'cockatiel', 'ns'),
      floor: ratio(LEAST, 'cockatiel', 'ns'),
      goal: 0.35,
    },
    {
      what: 'retry ÷ cockatiel',
      value: ratio('reprise: retry', 'cockatiel', 'ns'),
      floor: ratio(LEAST, 'cockatiel', 'ns'),
      goal: 0.38,
    },
  ],
  measure: ({ quick }) => overhead({ ...floors, ...peers.retrying(), ...ours.retrying() }, quick),
}
