/**
 * One simulation: many clients, one dependency, one fault, from a seed. The same arguments give the same report, to the
 * last digit. Imports core and the simulator's parts.
 */
import { seededRandom } from '../core/seeded-random.js'
import { Client, type Stage } from './client.js'
import { EventQueue, SimulatedEvent } from './event-queue.js'
import { partsOf } from './part.js'
import { type Report, reportOn } from './report.js'
import { neighbourCount, readScenario, type ScenarioInput } from './scenario.js'
import { makeReady, type ReadySubject, type Subject } from './subject.js'
import { Tally } from './tally.js'

/** Calls without a timeout that began before the end may go on for this long. */
const GRACE_MS = 60_000

/** What the neighbours of a scenario do: retries without a budget. */
const NEIGHBOUR_ATTEMPTS = 3

/**
 * Simulates many clients, one server and one fault, in virtual time. The same arguments give the same report. Throws an
 * `OptionsError` that names every problem of the scenario.
 * @example
 * const subject = { name: 'mine', policy: { attempts: 5, timeout: '10s' } }
 * const { amplification, success } = simulate({ fault: 'hang', during: '30s' }, subject, 1)
 */
export function simulate(input: ScenarioInput, subject: Subject, seed: number): Report {
  const scenario = readScenario(input)
  const ready = makeReady(subject)
  const horizonMs = scenario.endMs + Math.min(ready.policy.timeoutMs ?? GRACE_MS, GRACE_MS) + 1
  const events = new EventQueue(horizonMs)
  const tally = new Tally(scenario, horizonMs)
  const stage: Stage = {
    events,
    scenario,
    parts: partsOf(scenario, events, seededRandom(seed ^ SERVER_SALT)),
    random: seededRandom(seed),
    arrivals: seededRandom(seed ^ ARRIVAL_SALT),
  }
  const fleet = new Fleet(stage, ready, tally, new Tally(scenario, horizonMs))
  fleet.start()
  if (scenario.burst > 0) events.schedule(new Act(() => fleet.burst()), scenario.faultStartMs)
  if (scenario.restartAtMs !== undefined) events.schedule(new Act(() => fleet.start()), scenario.restartAtMs)
  events.run()
  return reportOn(subject.name, scenario, tally)
}

/** Arrivals and the server have chances of their own: whatever a policy draws, the calls are the same. */
const ARRIVAL_SALT = 0x1b873593
const SERVER_SALT = 0x5bd1e995

/** All clients, the neighbours among them. */
class Fleet {
  private readonly stage: Stage
  private readonly subject: ReadySubject
  private readonly tally: Tally
  private readonly neighbour: ReadySubject
  /** Nobody reads it: the neighbours' calls are load, not figures. */
  private readonly neighbourTally: Tally
  private clients: readonly Client[] = []

  constructor(stage: Stage, subject: ReadySubject, tally: Tally, neighbourTally: Tally) {
    this.stage = stage
    this.subject = subject
    this.tally = tally
    this.neighbour = makeNeighbour(subject)
    this.neighbourTally = neighbourTally
  }

  /** Starts clients without history, in the place of those that run. */
  start(): void {
    const { stage, clients } = this
    for (const client of clients) client.retire()
    const neighbours = neighbourCount(stage.scenario)
    this.clients = Array.from({ length: stage.scenario.clients }, (_, index) =>
      index < neighbours
        ? new Client(stage, this.neighbour, this.neighbourTally)
        : new Client(stage, this.subject, this.tally),
    )
    for (const client of this.clients) client.begin()
  }

  burst(): void {
    const { clients } = this
    const { burst } = this.stage.scenario
    for (let call = 0; call < burst; call++) (clients[clients.length - 1 - (call % clients.length)] as Client).call()
  }
}

/** The subject's time limits and waits, without its budget. */
function makeNeighbour({ policy }: ReadySubject): ReadySubject {
  const plain = { ...policy, attempts: NEIGHBOUR_ATTEMPTS, budget: undefined, hedge: undefined, breaker: undefined }
  return { name: 'neighbour', policy: plain, budgets: {} }
}

class Act extends SimulatedEvent {
  private readonly act: () => void

  constructor(act: () => void) {
    super()
    this.act = act
  }

  fire(): void {
    this.act()
  }
}
