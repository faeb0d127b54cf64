/** A call refused by an open breaker or an empty budget. */
import { ratio } from '../goals.mjs'
import { column, fail, failure, rejecting, succeed, turns } from '../harness.mjs'
import * as peers from '../peers.mjs'
import * as ours from '../reprise.mjs'

/** @type {Record<string, import('../harness.mjs').Call>} */
const floors = {
  'floor: a rejected promise': () => Promise.reject(failure),
  'floor: a rejected promise, new Error': () => Promise.reject(new Error('refused')),
}

const LEAST = ratio('floor: a rejected promise', undefined, 'us')

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Refused by an open breaker or an empty budget',
  unit: 'µs',
  columns: { us: 'CPU, µs a call' },
  note: 'CPU time of a whole call, rejection caught. Peers stand without a retry around them.',
  floor: 'a promise that is rejected with an error made beforehand; with one of its own it costs several times that.',
  goals: [
    {
      what: 'breaker ÷ fastest peer',
      value: ratio('reprise: breaker', undefined, 'us'),
      floor: LEAST,
      goal: 0.4,
      stretch: 0.25,
    },
    {
      what: 'budget ÷ fastest peer',
      value: ratio('reprise: budget', undefined, 'us'),
      floor: LEAST,
      goal: 0.4,
      stretch: 0.25,
    },
  ],
  measure: async ({ quick }) => {
    const calls = { ...floors, ...(await peers.refusing(fail)), ...(await ours.refusing(fail)) }
    const batches = Object.entries(calls).map(([name, call]) => [name, rejecting(call, succeed)])
    return column('us', await turns(Object.fromEntries(batches), { quick }), 1e-3)
  },
}
