/**
 * The figures of a simulation. Shares are of 1; what cannot be said is null. Imports the simulator's parts.
 */
import { healthAt, turningPoints, usefulBound } from './fault.js'
import type { Scenario } from './scenario.js'
import type { Tally } from './tally.js'

export interface Report {
  readonly name: string
  readonly calls: number
  readonly attempts: number
  /** Attempts over calls while the fault goes on: in the worst second, and on average. */
  readonly amplification: { readonly worst: number; readonly mean: number }
  /** From the end of the fault until calls succeed again as before it; null: not before the simulation ended. */
  readonly recoveryMs: number | null
  /** Share of calls that succeeded: of all, of those begun while the fault went on, and in the minute after. */
  readonly success: { readonly total: number; readonly during: number; readonly after: number }
  /** Successes while the fault goes on, over the most that any client could have had; null if that is none. */
  readonly goodput: number | null
  /** Retries and hedges that did not help, over calls. */
  readonly wasted: number
  /** Attempts beyond the first, over calls. */
  readonly extra: number
  readonly latencyMs: { readonly p50: number; readonly p99: number }
  readonly seconds: {
    readonly calls: readonly number[]
    readonly attempts: readonly number[]
    readonly useful: readonly number[]
  }
}

/** So long calls must succeed again, and so well compared with before the fault, to have recovered. */
const STEADY_SECONDS = 5
const STEADY_SHARE = 0.9
const AFTER_SECONDS = 60

export function reportOn(name: string, scenario: Scenario, tally: Tally): Report {
  const from = Math.floor(scenario.faultStartMs / 1000)
  const to = Math.ceil(scenario.faultEndMs / 1000)
  const end = Math.ceil(scenario.endMs / 1000)
  const calls = sum(tally.calls, 0, end)
  const share = (start: number, stop: number): number =>
    ratio(sum(tally.succeeded, start, stop), sum(tally.calls, start, stop))
  const part = (seconds: readonly number[]): readonly number[] => seconds.slice(0, end)
  return {
    name,
    calls,
    attempts: tally.firstAttempts + tally.retries,
    amplification: amplification(tally, from, to, scenario.callsPerSecond),
    recoveryMs: recoveryMs(tally, to, end, STEADY_SHARE * share(0, from), share),
    success: {
      total: share(0, end),
      during: ratio(tally.fault.succeeded, tally.fault.calls),
      after: share(to, Math.min(to + AFTER_SECONDS, end)),
    },
    goodput: goodput(scenario, tally),
    wasted: ratio(tally.retriesThatFailed, calls),
    extra: ratio(tally.retries, calls),
    latencyMs: { p50: tally.latencyMs(50), p99: tally.latencyMs(99) },
    seconds: { calls: part(tally.calls), attempts: part(tally.attempts), useful: part(tally.useful) },
  }
}

/** The worst second is against its own calls, or the mean where that is more: few calls by chance are no storm. */
function amplification(tally: Tally, from: number, to: number, callsPerSecond: number): Report['amplification'] {
  let worst = 0
  for (let second = from; second < to; second++) {
    const calls = Math.max(tally.calls[second] ?? 0, callsPerSecond)
    worst = Math.max(worst, ratio(tally.attempts[second] ?? 0, calls))
  }
  return { worst, mean: ratio(tally.fault.attempts, tally.fault.calls) }
}

/** The first second from which answers come as they should for a while, and calls to the end succeed as they should. */
function recoveryMs(
  tally: Tally,
  to: number,
  end: number,
  wanted: number,
  share: (start: number, stop: number) => number,
): number | null {
  for (let second = to; second + STEADY_SECONDS <= end; second++) {
    const useful = sum(tally.useful, second, second + STEADY_SECONDS)
    const calls = sum(tally.calls, second, second + STEADY_SECONDS)
    if (useful >= wanted * calls && share(second, end) >= wanted) return (second - to) * 1000
  }
  return null
}

function goodput(scenario: Scenario, tally: Tally): number | null {
  const { faultStartMs, faultEndMs } = scenario
  const points = turningPoints(scenario).filter((at) => at < faultEndMs)
  const bound = points.reduce((most, at, index) => {
    const untilMs = points[index + 1] ?? faultEndMs
    return most + (usefulBound(scenario, healthAt(scenario, at)) * (untilMs - at)) / 1000
  }, 0)
  return bound === 0 || faultEndMs === faultStartMs ? null : tally.fault.useful / bound
}

function sum(seconds: readonly number[], from: number, to: number): number {
  let total = 0
  for (let second = from; second < to; second++) total += seconds[second] ?? 0
  return total
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
