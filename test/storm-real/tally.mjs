// @ts-check
/**
 * What one client did, second by second, and what several did together. Imports the rig's numbers.
 */
import { secondsOf } from './rig.mjs'

/**
 * @typedef {object} Seconds
 * @property {number[]} calls begun in this second
 * @property {number[]} attempts begun in this second
 * @property {number[]} useful successes that came in this second
 * @property {number[]} succeeded calls begun in this second that succeeded, whenever
 *
 * @typedef {object} TallyReport
 * @property {Seconds} seconds
 * @property {number[]} latenciesMs of calls that succeeded
 * @property {Record<string, number>} stops failed calls by why they stopped
 */

/** @type {(keyof Seconds)[]} */
const KINDS = ['calls', 'attempts', 'useful', 'succeeded']

export class Tally {
  /** @type {Seconds} */
  #seconds
  /** @type {number[]} */
  #latenciesMs = []
  /** @type {Record<string, number>} */
  #stops = {}

  /** @param {import('./rig.mjs').Scenario} scenario */
  constructor(scenario) {
    const empty = () => Array.from({ length: secondsOf(scenario) }, () => 0)
    this.#seconds = { calls: empty(), attempts: empty(), useful: empty(), succeeded: empty() }
  }

  /** @param {number} nowMs */
  callBegan(nowMs) {
    this.#count('calls', nowMs)
  }

  /** @param {number} nowMs */
  attemptBegan(nowMs) {
    this.#count('attempts', nowMs)
  }

  /** @param {number} startMs @param {number} nowMs */
  callSucceeded(startMs, nowMs) {
    this.#count('succeeded', startMs)
    this.#count('useful', nowMs)
    this.#latenciesMs.push(Math.round(nowMs - startMs))
  }

  /** @param {string} reason */
  callFailed(reason) {
    this.#stops[reason] = (this.#stops[reason] ?? 0) + 1
  }

  /** @returns {TallyReport} */
  toReport() {
    return { seconds: this.#seconds, latenciesMs: this.#latenciesMs, stops: this.#stops }
  }

  /** @param {keyof Seconds} kind @param {number} atMs */
  #count(kind, atMs) {
    const seconds = this.#seconds[kind]
    const second = Math.min(Math.max(0, Math.floor(atMs / 1000)), seconds.length - 1)
    seconds[second] = (seconds[second] ?? 0) + 1
  }
}

/** @param {readonly TallyReport[]} reports @returns {TallyReport} */
export function together(reports) {
  const [first, ...others] = reports
  if (first === undefined) throw new Error('There is no report.')
  const sum = structuredClone(first)
  for (const { seconds, latenciesMs, stops } of others) {
    for (const kind of KINDS) sum.seconds[kind] = sum.seconds[kind].map((count, at) => count + (seconds[kind][at] ?? 0))
    sum.latenciesMs.push(...latenciesMs)
    for (const [reason, count] of Object.entries(stops)) sum.stops[reason] = (sum.stops[reason] ?? 0) + count
  }
  return sum
}
