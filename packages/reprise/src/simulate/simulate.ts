/**
 * One simulation: many clients, one server, one fault, from a seed. The same arguments give the same report, to the last
 * digit. Imports core and the simulator's parts.
 */
import { seededRandom } from '../core/seeded-random.js'
import { Client } from './client.js'
import { EventQueue } from './event-queue.js'
import { type Report, reportOn } from './report.js'
import { readScenario, type ScenarioInput } from './scenario.js'
import { Server } from './server.js'
import { makeReady, type Subject } from './subject.js'
import { Tally } from './tally.js'

/** So long calls that began before the end may go on when they have no timeout. */
const GRACE_MS = 60_000

export function simulate(input: ScenarioInput, subject: Subject, seed: number): Report {
  const scenario = readScenario(input)
  const ready = makeReady(subject)
  const horizonMs = scenario.endMs + Math.min(ready.policy.timeoutMs ?? GRACE_MS, GRACE_MS) + 1
  const events = new EventQueue(horizonMs)
  const tally = new Tally(scenario, horizonMs)
  const random = seededRandom(seed)
  const server = new Server(events, scenario, seededRandom(seed ^ SERVER_SALT))
  const arrivals = seededRandom(seed ^ ARRIVAL_SALT)
  const stage = { events, server, tally, random, arrivals, lastCallMs: scenario.endMs }
  for (let client = 0; client < scenario.clients; client++) {
    new Client(stage, ready, scenario.callsPerSecond / scenario.clients).begin()
  }
  events.run()
  return reportOn(subject.name, scenario, tally)
}

/** Arrivals and the server have chances of their own: whatever a policy draws, the calls are the same. */
const ARRIVAL_SALT = 0x1b873593
const SERVER_SALT = 0x5bd1e995
