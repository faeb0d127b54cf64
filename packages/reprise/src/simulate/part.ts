/**
 * The parts of a dependency: what the fault hits, and the rest, which it does not. Each has a server of its own, with its
 * share of traffic and capacity. A fault that hits everything leaves one part. Imports the simulator's parts.
 */
import type { Random } from '../core/time.js'
import type { EventQueue } from './event-queue.js'
import type { Scenario } from './scenario.js'
import { Server } from './server.js'

export interface Part {
  readonly name: 'hit' | 'rest'
  readonly server: Server
}

/** The share of a scenario that one part is: its fault, workers, queue and calls. */
export function shareOf(scenario: Scenario, name: Part['name']): Scenario {
  const isHit = name === 'hit'
  const share = isHit ? scenario.faultShare : 1 - scenario.faultShare
  return {
    ...scenario,
    workers: Math.max(1, Math.round(scenario.workers * share)),
    queueLength: Math.round(scenario.queueLength * share),
    callsPerSecond: scenario.callsPerSecond * share,
    fault: isHit || scenario.fault === 'overload' ? scenario.fault : 'none',
  }
}

export function partNames({ faultShare }: Scenario): readonly Part['name'][] {
  return faultShare < 1 ? ['hit', 'rest'] : ['hit']
}

export function partsOf(scenario: Scenario, events: EventQueue, random: Random): readonly Part[] {
  return partNames(scenario).map((name) => ({ name, server: new Server(events, shareOf(scenario, name), random) }))
}
