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

/** The most calls per second that can succeed in this health, however they are retried. */
export function usefulBound(scenario: Scenario, health: Health): number {
  if (health.refuses || health.hungUntilMs > 0) return 0
  const served = (capacityOf(scenario) * health.workers) / scenario.workers / health.slowness
  return Math.min(scenario.callsPerSecond, served * (1 - health.errorRate))
}
