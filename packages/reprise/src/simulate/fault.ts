/**
 * The state of a server while a fault goes on and while it does not. Imports the scenario.
 */
import { capacityOf, type Scenario } from './scenario.js'

export interface Health {
  /** Nothing is started or finished before this time. */
  readonly hungUntilMs: number
  readonly refuses: boolean
  readonly workers: number
  readonly slowness: number
  readonly errorRate: number
}

const FLAP_MS = 2000

/** The times at which health may change. */
export function turningPoints(scenario: Scenario): number[] {
  const { fault, faultStartMs, faultEndMs } = scenario
  const points = [faultStartMs, faultEndMs]
  if (fault === 'flap') {
    for (let at = faultStartMs + FLAP_MS; at < faultEndMs; at += FLAP_MS) points.push(at)
  }
  return points
}

export function healthAt(scenario: Scenario, now: number): Health {
  const { workers, errorRate, fault, amount, faultStartMs, faultEndMs } = scenario
  const well = { hungUntilMs: 0, refuses: false, workers, slowness: 1, errorRate }
  if (now < faultStartMs || now >= faultEndMs) return well
  switch (fault) {
    case 'none':
    case 'overload':
      return well
    case 'hang':
      return { ...well, hungUntilMs: faultEndMs }
    case 'flap': {
      const turn = Math.floor((now - faultStartMs) / FLAP_MS)
      const hungUntilMs = Math.min(faultEndMs, faultStartMs + (turn + 1) * FLAP_MS)
      return turn % 2 === 0 ? { ...well, hungUntilMs } : well
    }
    case 'refuse':
      return { ...well, refuses: true }
    case 'capacity':
      return { ...well, workers: Math.round(workers * amount) }
    case 'slow':
      return { ...well, slowness: amount }
    case 'errors':
      return { ...well, errorRate: 1 - (1 - errorRate) * (1 - amount) }
  }
}

/** Calls that clients make per second at this time. */
export function callsPerSecondAt(
  { fault, amount, faultStartMs, faultEndMs, callsPerSecond }: Scenario,
  now: number,
): number {
  return fault === 'overload' && now >= faultStartMs && now < faultEndMs ? callsPerSecond * amount : callsPerSecond
}

/** The most calls per second that can succeed at this time, however they are retried. */
export function usefulBoundAt(scenario: Scenario, now: number): number {
  const health = healthAt(scenario, now)
  if (health.refuses || health.hungUntilMs > 0) return 0
  const served = (capacityOf(scenario) * health.workers) / scenario.workers / health.slowness
  return Math.min(callsPerSecondAt(scenario, now), served * (1 - health.errorRate))
}
