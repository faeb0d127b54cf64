/**
 * The rule above all goals: in no scenario may the recommended settings be worse than no retries by more than half a
 * point of success. Both see the same arrivals; what counts is every call begun from the start of the fault until a
 * minute after its end.
 *
 * A scenario that looks worse with one seed is run again with three fresh ones and judged by their mean alone, since the
 * worst of many scenarios are partly the unluckiest. Where neighbours may or may not bring the server down, seeds differ by
 * tens of points: then three more are run, until the mean is clear or there are twelve. Imports the library.
 */
import type { PolicyInput } from 'reprise'
import { type Report, type ScenarioInput, simulate, type Subject } from 'reprise/simulate'
import { NONE, RECOMMENDED } from './subjects.js'

/** A scenario, and how long its callers wait. */
export interface Trial {
  readonly scenario: ScenarioInput
  /** Undefined: an attempt may take what is left of the whole call. */
  readonly attemptTimeoutMs: number | undefined
  readonly timeoutMs: number
}

export interface Comparison {
  readonly trial: Trial
  readonly none: Report
  readonly ours: Report
  /** Calls that count. */
  readonly calls: number
  /** In success, ours minus none: below 0 is worse. */
  readonly difference: number
  readonly standardError: number
}

type Mean = Pick<Comparison, 'difference' | 'standardError'>

/** What the rule allows. */
export const TOLERANCE = 0.005
const STANDARD_ERRORS = 3
/** Fresh seeds at a time, and in all. */
const FRESH_SEEDS = 3
const MOST_SEEDS = 12
/** How long a server without a fault is watched, once its queue is what it usually is. */
const WELL = { before: '15s', during: '15s', after: '1ms' } as const
/** So far apart that no scenario of the same search has one of these seeds. */
const APART = 10_000_019

function withLimits(subject: Subject, attemptTimeout: number | undefined, timeout: number): Subject {
  const { attemptTimeout: _own, ...policy } = subject.policy as PolicyInput
  return { ...subject, policy: { ...policy, ...(attemptTimeout !== undefined && { attemptTimeout }), timeout } }
}

export function compare(trial: Trial, seed: number, subject: Subject = RECOMMENDED): Comparison {
  const { scenario, attemptTimeoutMs, timeoutMs } = trial
  const none = simulate(scenario, withLimits(NONE, attemptTimeoutMs, timeoutMs), seed)
  const ours = simulate(scenario, withLimits(subject, attemptTimeoutMs, timeoutMs), seed)
  const calls = countedCalls(trial, ours)
  const spread = (share: number): number => (share * (1 - share)) / Math.max(1, calls)
  return {
    trial,
    none,
    ours,
    calls,
    difference: ours.success.throughout - none.success.throughout,
    standardError: Math.sqrt(spread(ours.success.throughout) + spread(none.success.throughout)),
  }
}

export function isWorse({ difference, standardError }: Mean): boolean {
  return -difference - TOLERANCE > STANDARD_ERRORS * standardError
}

/** Of the calls of the same clients while nothing is wrong, without retries: the share that has no answer in time. */
export function lateByNature({ scenario, attemptTimeoutMs, timeoutMs }: Trial, seed: number): number {
  const { load, capacity, clients, serviceTime, serviceShape, queue } = scenario
  const well = { load, capacity, clients, serviceTime, serviceShape, queue, fault: 'none', ...WELL } as const
  return 1 - simulate(well, withLimits(NONE, attemptTimeoutMs, timeoutMs), seed).success.throughout
}

export interface Verdict {
  readonly first: Comparison
  /** With fresh seeds; none if the first did not look worse. */
  readonly again: readonly Comparison[]
  /** Of the first, or the mean of the others. */
  readonly difference: number
  readonly standardError: number
}

/** Also a difference that may be chance looks worse: the further runs tell it from one that is not. */
export function judgeTrial(trial: Trial, seed: number, subject: Subject = RECOMMENDED): Verdict {
  const first = compare(trial, seed, subject)
  const again: Comparison[] = []
  let judged: Mean = first
  while (judged.difference < -TOLERANCE && (again.length === 0 || !isWorse(judged)) && again.length < MOST_SEEDS) {
    for (let i = 0; i < FRESH_SEEDS; i++) again.push(compare(trial, seed + (again.length + 1) * APART, subject))
    judged = meanOf(again)
  }
  return { first, again, difference: judged.difference, standardError: judged.standardError }
}

/** By the calls, or by how far the seeds are apart where that is more: calls of a run that tips over fail together. */
function meanOf(comparisons: readonly Comparison[]): Mean {
  const count = comparisons.length
  const sum = (figure: (one: Comparison) => number): number =>
    comparisons.reduce((total, one) => total + figure(one), 0)
  const difference = sum((one) => one.difference) / count
  const byCalls = Math.sqrt(sum((one) => one.standardError ** 2)) / count
  const bySeeds = Math.sqrt(sum((one) => (one.difference - difference) ** 2) / (count - 1) / count)
  return { difference, standardError: Math.max(byCalls, bySeeds) }
}

/** As many calls as the report's `success.throughout` is of. */
function countedCalls({ scenario }: Trial, { seconds }: Report): number {
  const fromSecond = Math.floor(Number(scenario.before) / 1000)
  return seconds.calls.slice(fromSecond).reduce((sum, calls) => sum + calls, 0)
}
