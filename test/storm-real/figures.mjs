// @ts-check
/**
 * The figures of a storm, real or simulated, by the same rules. Imports the simulator and the rig's parts.
 */
import { simulate } from 'reprise/simulate'
import { callRateOf, callsEndMsOf, capacityOf, faultEndMsOf, workersInFault } from './rig.mjs'
import { simulatedSubject } from './subjects.mjs'

/**
 * @typedef {object} Figures
 * @property {number | null} worst attempts over calls in the worst second of the fault; null with a burst, whose calls
 *   may start their first attempts seconds later
 * @property {number} mean attempts over calls in the whole fault
 * @property {number | null} recoveryS from the end of the fault until five seconds in a row answer nine in ten of their
 *   calls; null: never
 * @property {number | null | undefined} backS from the end of the fault until 99 % of the calls of every further 5 s
 *   succeed; null: never; undefined: not known, since the simulator does not report it
 * @property {number} during share of the calls begun in the fault that succeeded
 * @property {number} after of those begun after it
 * @property {number} success of those begun in the fault or after it
 * @property {number | null} goodput successes in the fault, over the most that the server can answer and the clients
 *   ask for; null where the fault leaves the server all of its workers or none
 * @property {number} p99Ms of calls that succeeded
 *
 * @typedef {import('./rig.mjs').Scenario} Scenario
 */

const STEADY_SECONDS = 5
const STEADY_SHARE = 0.9
const BACK_SECONDS = 5
const BACK_SHARE = 0.99
/** Simulations are cheap, so chance is averaged away. */
const SIMULATIONS = 20

/** @param {import('./tally.mjs').TallyReport} report @param {Scenario} scenario @returns {Figures} */
export function realFigures({ seconds, latenciesMs }, scenario) {
  const { from, to, end } = secondsIn(scenario)
  const share = (/** @type {number} */ start, /** @type {number} */ stop) =>
    sum(seconds.succeeded, start, stop) / sum(seconds.calls, start, stop)
  const sorted = latenciesMs.toSorted((one, other) => one - other)
  return {
    ...amplification(seconds, scenario),
    recoveryS: recoveryS(seconds, scenario),
    backS: backS(seconds, scenario),
    during: share(from, to),
    after: share(to, end),
    success: share(from, end),
    goodput: goodput(seconds, scenario),
    p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0,
  }
}

/**
 * What the simulator says of the same numbers: means over many seeds, and the median recovery. Undefined for a scenario
 * that the simulator cannot express.
 * @param {string} subject @param {Scenario} scenario @param {number} seed @returns {Figures | undefined}
 */
export function simulatedFigures(subject, scenario, seed) {
  // The simulator has no burst.
  if (scenario.burst > 0) return undefined
  const all = Array.from({ length: SIMULATIONS }, (_, index) => simulatedOnce(subject, scenario, seed + index))
  const mean = (/** @type {(one: Figures) => number} */ field) =>
    all.reduce((total, one) => total + field(one), 0) / all.length
  const recoveries = all.map((one) => one.recoveryS ?? Infinity).toSorted((one, other) => one - other)
  const median = recoveries[recoveries.length >> 1] ?? Infinity
  return {
    worst: mean((one) => one.worst ?? 0),
    mean: mean((one) => one.mean),
    recoveryS: median === Infinity ? null : median,
    backS: undefined,
    during: mean((one) => one.during),
    after: mean((one) => one.after),
    success: mean((one) => one.success),
    goodput: all.some((one) => one.goodput === null) ? null : mean((one) => one.goodput ?? 0),
    p99Ms: mean((one) => one.p99Ms),
  }
}

/** @param {string} subject @param {Scenario} scenario @param {number} seed @returns {Figures} */
function simulatedOnce(subject, scenario, seed) {
  const { fault } = scenario
  // The simulator wants at least 1 ms before the fault.
  const beforeMs = Math.max(1, scenario.beforeMs)
  const input = {
    clients: scenario.clients,
    load: scenario.load,
    capacity: capacityOf(scenario),
    serviceTime: scenario.serviceMs,
    queue: scenario.queueMs,
    fault: fault.kind,
    amount: fault.kind === 'capacity' ? fault.share : undefined,
    before: beforeMs,
    during: faultEndMsOf(scenario) - beforeMs,
    after: scenario.afterMs,
  }
  const { seconds, success, latencyMs } = simulate(input, simulatedSubject(subject, scenario), seed)
  const { from, to, end } = secondsIn(scenario)
  const callsDuring = sum(seconds.calls, from, to)
  const callsAfter = sum(seconds.calls, to, end)
  return {
    ...amplification(seconds, scenario),
    recoveryS: recoveryS(seconds, scenario),
    backS: undefined,
    during: success.during,
    after: success.after,
    success: (success.during * callsDuring + success.after * callsAfter) / (callsDuring + callsAfter),
    goodput: goodput(seconds, scenario),
    p99Ms: latencyMs.p99,
  }
}

/**
 * The seconds in which the fault begins and ends, and in which the last call begins.
 * @param {Scenario} scenario
 */
function secondsIn(scenario) {
  const from = Math.floor(scenario.beforeMs / 1000)
  return { from, to: Math.ceil(faultEndMsOf(scenario) / 1000), end: Math.ceil(callsEndMsOf(scenario) / 1000) }
}

/**
 * The worst second is against its own calls, or the mean where that is more: few calls by chance are no storm.
 * @param {{ readonly calls: readonly number[], readonly attempts: readonly number[] }} seconds
 * @param {Scenario} scenario
 */
function amplification({ calls, attempts }, scenario) {
  const { from, to } = secondsIn(scenario)
  let worst = 0
  for (let second = from; second < to; second++) {
    worst = Math.max(worst, (attempts[second] ?? 0) / Math.max(calls[second] ?? 0, callRateOf(scenario)))
  }
  return { worst: scenario.burst > 0 ? null : worst, mean: sum(attempts, from, to) / sum(calls, from, to) }
}

/**
 * The first second from which five in a row each answer as many as they should: nine in ten of their calls, or of a
 * usual second's where that is less.
 * @param {{ readonly calls: readonly number[], readonly useful: readonly number[] }} seconds
 * @param {Scenario} scenario
 */
function recoveryS({ calls, useful }, scenario) {
  const { to, end } = secondsIn(scenario)
  let steady = 0
  for (let second = to; second < end; second++) {
    const wanted = STEADY_SHARE * Math.min(calls[second] ?? 0, callRateOf(scenario))
    steady = (useful[second] ?? 0) >= wanted ? steady + 1 : 0
    if (steady === STEADY_SECONDS) return second + 1 - STEADY_SECONDS - to
  }
  return null
}

/**
 * The first second after the fault from which on 99 % of the calls of every 5 s succeed: goes back from the last calls
 * to the last 5 s that fall short. Null if the last 5 s do.
 * @param {{ readonly calls: readonly number[], readonly succeeded: readonly number[] }} seconds
 * @param {Scenario} scenario
 */
export function backS({ calls, succeeded }, scenario) {
  const { to, end } = secondsIn(scenario)
  const isGood = (/** @type {number} */ start) =>
    sum(succeeded, start, start + BACK_SECONDS) >= BACK_SHARE * sum(calls, start, start + BACK_SECONDS)
  let second = end - BACK_SECONDS
  if (second < to || !isGood(second)) return null
  while (second > to && isGood(second - 1)) second--
  return second - to
}

/** @param {{ readonly useful: readonly number[] }} seconds @param {Scenario} scenario */
function goodput({ useful }, scenario) {
  if (scenario.fault.kind !== 'capacity') return null
  const { from, to } = secondsIn(scenario)
  const canAnswer = (capacityOf(scenario) * workersInFault(scenario)) / scenario.workers
  return sum(useful, from, to) / (Math.min(canAnswer, callRateOf(scenario)) * (to - from))
}

/** @param {readonly number[]} seconds @param {number} from @param {number} to */
export function sum(seconds, from, to) {
  return seconds.slice(from, to).reduce((total, count) => total + count, 0)
}
