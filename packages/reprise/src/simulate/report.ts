/**
 * The figures of a simulation. Shares are of 1; what cannot be said is null. Imports the simulator's parts.
 */
import { callsPerSecondAt, turningPoints, usefulBoundAt } from './fault.js'
import { partNames, shareOf } from './part.js'
import { neighbourCount, type Scenario } from './scenario.js'
import type { Tally } from './tally.js'

/** What a simulation found. Shares are from 0 to 1; calls of neighbours are not counted. */
export interface Report {
  /** The subject's name. */
  readonly name: string
  /** Calls made. */
  readonly calls: number
  /** Attempts made, first attempts and hedges included. */
  readonly attempts: number
  /** Attempts over calls while the fault goes on: in the worst second, and on average. */
  readonly amplification: {
    /** In the worst second. */
    readonly worst: number
    /** On average. */
    readonly mean: number
  }
  /** From the end of the fault until calls succeed again as before it; null: not before the simulation ended. */
  readonly recoveryMs: number | null
  /** From the end of the fault to the first second after which 99 % of the calls of every further 5 s succeed; null: never. */
  readonly backMs: number | null
  /** Share of calls that succeeded: of all, of those begun while the fault went on, in the minute after, and in both. */
  readonly success: {
    /** Of all calls. */
    readonly total: number
    /** Of calls begun while the fault went on. */
    readonly during: number
    /** Of calls begun in the minute after it. */
    readonly after: number
    /** Of calls begun in either. */
    readonly throughout: number
  }
  /** While the fault goes on, for what it hits and for the rest; null where it hits everything. */
  readonly parts: {
    /** The part that the fault hits. */
    readonly hit: PartFigures
    /** The part that it does not hit. */
    readonly rest: PartFigures
  } | null
  /** Successes while the fault goes on, over the most that any client could have had; null if that is none. */
  readonly goodput: number | null
  /** Retries and hedges that did not help, over calls. */
  readonly wasted: number
  /** Attempts beyond the first, over calls. */
  readonly extra: number
  /** How long calls took that succeeded. */
  readonly latencyMs: {
    /** The median. */
    readonly p50: number
    /** The 99th percentile. */
    readonly p99: number
  }
  /** Figures of each second, from the first on. */
  readonly seconds: {
    /** Calls begun. */
    readonly calls: readonly number[]
    /** Attempts begun. */
    readonly attempts: readonly number[]
    /** Calls that succeeded. */
    readonly useful: readonly number[]
  }
}

interface PartFigures {
  /** Calls made. */
  readonly calls: number
  /** Attempts over calls. */
  readonly amplification: number
  /** Share of calls that succeeded. */
  readonly success: number
}

/** For how long calls must succeed again, and how well compared with before the fault, to have recovered. */
const STEADY_SECONDS = 5
const STEADY_SHARE = 0.9
const AFTER_SECONDS = 60
const BACK_SHARE = 0.99

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
    amplification: amplification(scenario, tally, from, to),
    recoveryMs: recoveryMs(tally, to, end, STEADY_SHARE * share(0, from), share),
    backMs: backMs(to, end, share),
    success: {
      total: share(0, end),
      during: ratio(tally.fault.succeeded, tally.fault.calls),
      after: share(to, Math.min(to + AFTER_SECONDS, end)),
      throughout: share(from, Math.min(to + AFTER_SECONDS, end)),
    },
    parts: partFigures(scenario, tally),
    goodput: goodput(scenario, tally),
    wasted: ratio(tally.retriesThatFailed, calls),
    extra: ratio(tally.retries, calls),
    latencyMs: tally.latencyMs(),
    seconds: {
      calls: part(tally.calls),
      attempts: part(tally.attempts),
      useful: part(tally.useful),
    },
  }
}

/** The worst second is against its own calls, or the mean where that is more: few calls by chance are no storm. */
function amplification(scenario: Scenario, tally: Tally, from: number, to: number): Report['amplification'] {
  const own = 1 - neighbourCount(scenario) / scenario.clients
  let worst = 0
  for (let second = from; second < to; second++) {
    const calls = Math.max(tally.calls[second] ?? 0, own * callsPerSecondAt(scenario, second * 1000))
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

function backMs(to: number, end: number, share: (start: number, stop: number) => number): number | null {
  let back = end - STEADY_SECONDS + 1
  while (back > to && share(back - 1, back - 1 + STEADY_SECONDS) >= BACK_SHARE) back--
  return back + STEADY_SECONDS > end ? null : (back - to) * 1000
}

function partFigures(scenario: Scenario, { parts }: Tally): Report['parts'] {
  if (scenario.faultShare === 1) return null
  const figures = ({ calls, attempts, succeeded }: Tally['parts']['hit']): PartFigures => ({
    calls,
    amplification: ratio(attempts, calls),
    success: ratio(succeeded, calls),
  })
  return { hit: figures(parts.hit), rest: figures(parts.rest) }
}

function goodput(scenario: Scenario, tally: Tally): number | null {
  const { faultStartMs, faultEndMs } = scenario
  const points = turningPoints(scenario).filter((at) => at < faultEndMs)
  const bound = points.reduce((most, at, index) => {
    const untilMs = points[index + 1] ?? faultEndMs
    const perSecond = sum(
      partNames(scenario).map((name) => usefulBoundAt(shareOf(scenario, name), at)),
      0,
      2,
    )
    return most + (perSecond * (untilMs - at)) / 1000
  }, 0)
  return bound === 0 || faultEndMs === faultStartMs || scenario.neighbours > 0 ? null : tally.fault.useful / bound
}

function sum(seconds: readonly number[], from: number, to: number): number {
  let total = 0
  for (let second = from; second < to; second++) total += seconds[second] ?? 0
  return total
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
