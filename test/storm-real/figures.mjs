// @ts-check
/**
 * The figures of a storm, real or simulated, by the same rules. Imports the simulator and the rig's parts.
 */
import { simulate } from 'reprise/simulate'
import { callRateOf, callsEndMsOf, capacityOf } from './rig.mjs'
import { simulatedSubject } from './subjects.mjs'

/**
 * @typedef {object} Figures
 * @property {number} worst attempts over calls in the worst second of the hang
 * @property {number} mean attempts over calls in the whole of it
 * @property {number | null} recoveryS from the end of the hang until answers come as they should; null: never
 * @property {number} during share of the calls begun in the hang that succeeded
 * @property {number} after of those begun after it
 * @property {number} p99Ms of calls that succeeded
 *
 * @typedef {import('./rig.mjs').Rig} Rig
 */

const STEADY_SECONDS = 5
const STEADY_SHARE = 0.9
/** Simulations are cheap: chance is averaged away. */
const SIMULATIONS = 20

/** @param {import('./tally.mjs').TallyReport} report @param {Rig} rig @returns {Figures} */
export function realFigures({ seconds, latenciesMs }, rig) {
  const { from, to, end } = secondsIn(rig)
  const share = (/** @type {number} */ start, /** @type {number} */ stop) =>
    sum(seconds.succeeded, start, stop) / sum(seconds.calls, start, stop)
  const sorted = latenciesMs.toSorted((one, other) => one - other)
  return {
    ...amplification(seconds, rig),
    recoveryS: recoveryS(seconds, rig),
    during: share(from, to),
    after: share(to, end),
    p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0,
  }
}

/**
 * What the simulator says of the same numbers: means over many seeds, and the median recovery.
 * @param {string} subject @param {Rig} rig @param {number} seed @returns {Figures}
 */
export function simulatedFigures(subject, rig, seed) {
  const all = Array.from({ length: SIMULATIONS }, (_, index) => simulatedOnce(subject, rig, seed + index))
  const mean = (/** @type {(one: Figures) => number} */ field) =>
    all.reduce((total, one) => total + field(one), 0) / all.length
  const recoveries = all.map((one) => one.recoveryS ?? Infinity).toSorted((one, other) => one - other)
  const median = recoveries[recoveries.length >> 1] ?? Infinity
  return {
    worst: mean((one) => one.worst),
    mean: mean((one) => one.mean),
    recoveryS: median === Infinity ? null : median,
    during: mean((one) => one.during),
    after: mean((one) => one.after),
    p99Ms: mean((one) => one.p99Ms),
  }
}

/** @param {string} subject @param {Rig} rig @param {number} seed @returns {Figures} */
function simulatedOnce(subject, rig, seed) {
  const scenario = {
    clients: rig.clients,
    load: rig.load,
    capacity: capacityOf(rig),
    serviceTime: rig.serviceMs,
    queue: rig.queueMs,
    fault: /** @type {const} */ ('hang'),
    before: rig.beforeMs,
    during: rig.hangMs,
    after: rig.afterMs,
  }
  const { seconds, success, latencyMs } = simulate(scenario, simulatedSubject(subject, rig), seed)
  return {
    ...amplification(seconds, rig),
    recoveryS: recoveryS(seconds, rig),
    during: success.during,
    after: success.after,
    p99Ms: latencyMs.p99,
  }
}

/** @param {Rig} rig the seconds in which the hang begins and ends, and in which the last call begins */
function secondsIn(rig) {
  const from = Math.floor(rig.beforeMs / 1000)
  return { from, to: Math.ceil((rig.beforeMs + rig.hangMs) / 1000), end: Math.ceil(callsEndMsOf(rig) / 1000) }
}

/**
 * The worst second is against its own calls, or the mean where that is more: few calls by chance are no storm.
 * @param {{ readonly calls: readonly number[], readonly attempts: readonly number[] }} seconds @param {Rig} rig
 */
function amplification({ calls, attempts }, rig) {
  const { from, to } = secondsIn(rig)
  let worst = 0
  for (let second = from; second < to; second++) {
    worst = Math.max(worst, (attempts[second] ?? 0) / Math.max(calls[second] ?? 0, callRateOf(rig)))
  }
  return { worst, mean: sum(attempts, from, to) / sum(calls, from, to) }
}

/**
 * The first second from which five in a row each answer as many as they should: nine in ten of their calls, or of a
 * usual second's where that is less.
 * @param {{ readonly calls: readonly number[], readonly useful: readonly number[] }} seconds @param {Rig} rig
 */
function recoveryS({ calls, useful }, rig) {
  const { to, end } = secondsIn(rig)
  let steady = 0
  for (let second = to; second < end; second++) {
    const wanted = STEADY_SHARE * Math.min(calls[second] ?? 0, callRateOf(rig))
    steady = (useful[second] ?? 0) >= wanted ? steady + 1 : 0
    if (steady === STEADY_SECONDS) return second + 1 - STEADY_SECONDS - to
  }
  return null
}

/** @param {readonly number[]} seconds @param {number} from @param {number} to */
export function sum(seconds, from, to) {
  return seconds.slice(from, to).reduce((total, count) => total + count, 0)
}
