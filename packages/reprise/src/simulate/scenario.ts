/**
 * What is simulated: clients, one server, and what happens to it. What people write is checked and completed here; the
 * rest of the simulator sees milliseconds and rates. Imports core only.
 */
import { readDuration } from '../core/duration.js'
import { RepriseError } from '../core/errors.js'
import type { DurationInput } from '../core/policy.js'
import { isNot } from '../core/problems.js'
import { nearest } from '../core/suggest.js'
import { SERVICE_SHAPES, type ServiceShape } from './chance.js'

/**
 * `hang`: nothing is answered, what waits goes on waiting. `refuse`: everything fails at once. `capacity`: `amount` is
 * the share of workers left. `slow`: every answer takes `amount` times as long. `errors`: this share of answers fails.
 * `flap`: hangs and works by turns of 2 s. `overload`: clients make `amount` times as many calls. `none`: nothing happens.
 */
export const FAULT_KINDS = ['none', 'hang', 'refuse', 'capacity', 'slow', 'errors', 'flap', 'overload'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** What people write; every field has a default. */
export interface ScenarioInput {
  readonly clients?: number | undefined
  /** Calls offered, as a share of what the server can do. */
  readonly load?: number | undefined
  /** What the server can do, in answers per second. */
  readonly capacity?: number | undefined
  /** Mean time to serve one request, without waiting. */
  readonly serviceTime?: DurationInput | undefined
  readonly serviceShape?: ServiceShape | undefined
  /** The server's queue, in time at full capacity; what comes beyond is refused. */
  readonly queue?: DurationInput | undefined
  readonly fault?: FaultKind | undefined
  readonly amount?: number | undefined
  readonly before?: DurationInput | undefined
  readonly during?: DurationInput | undefined
  readonly after?: DurationInput | undefined
  /** Share of answers that fail by chance, always. */
  readonly errorRate?: number | undefined
  /** Share of traffic and capacity that the fault hits: a shard or an endpoint. The rest has a server of its own. */
  readonly faultShare?: number | undefined
  /** Calls to the part that the fault hits have a key of their own, so that `perKey` keeps a budget for them. */
  readonly keyed?: boolean | undefined
  /** Calls made at once when the fault starts, spread over the clients. */
  readonly burst?: number | undefined
  /** When all clients are replaced by new ones without history; 0 for never. Calls of the old ones go on to their end. */
  readonly restartAt?: DurationInput | undefined
  /** Operations go on until the server answers, though their callers have given them up. */
  readonly ignoresSignal?: boolean | undefined
  /** Share of clients that retry three times without a budget. Their calls are not in the figures. */
  readonly neighbours?: number | undefined
}

export interface Scenario {
  readonly clients: number
  readonly callsPerSecond: number
  readonly workers: number
  readonly serviceMs: number
  readonly serviceShape: ServiceShape
  readonly queueLength: number
  readonly fault: FaultKind
  readonly amount: number
  readonly faultStartMs: number
  readonly faultEndMs: number
  readonly endMs: number
  readonly errorRate: number
  readonly faultShare: number
  readonly keyed: boolean
  readonly burst: number
  readonly restartAtMs: number | undefined
  readonly ignoresSignal: boolean
  readonly neighbours: number
}

/** What the server of a scenario can do per second when it is well. */
export function capacityOf(scenario: Scenario): number {
  return (scenario.workers * 1000) / scenario.serviceMs
}

/** At least one client is not a neighbour. */
export function neighbourCount({ clients, neighbours }: Scenario): number {
  return Math.min(clients - 1, Math.round(clients * neighbours))
}

const DEFAULTS = {
  clients: 100,
  load: 0.75,
  capacity: 1000,
  serviceTime: '20ms',
  serviceShape: 'exponential',
  queue: '2s',
  fault: 'hang',
  before: '30s',
  during: '30s',
  after: '120s',
  errorRate: 0,
  faultShare: 1,
  keyed: false,
  burst: 0,
  restartAt: 0,
  ignoresSignal: false,
  neighbours: 0,
} as const satisfies ScenarioInput

const AMOUNTS: Readonly<Record<FaultKind, number>> = {
  none: 0,
  hang: 0,
  refuse: 0,
  capacity: 0.5,
  slow: 3,
  errors: 0.2,
  flap: 0,
  overload: 1.4,
}

/** A simulation of more than this would run for minutes. */
const MAX_EVENTS = 50_000_000

export class ScenarioError extends RepriseError {
  constructor(message: string) {
    super('invalid_scenario', `Scenario ${message}`)
  }

  override get name(): string {
    return 'ScenarioError'
  }
}

export function readScenario(input: ScenarioInput = {}): Scenario {
  expectNames(input)
  const given = { ...DEFAULTS, ...withoutUndefined(input) }
  const fault = expectOne('fault', given.fault, FAULT_KINDS)
  const capacity = expectRange('capacity', given.capacity, 0.01, 1_000_000)
  const serviceMs = expectDuration('serviceTime', given.serviceTime, 0.01)
  const workers = Math.max(1, Math.round((capacity * serviceMs) / 1000))
  const faultStartMs = expectDuration('before', given.before, 1)
  const faultEndMs = faultStartMs + expectDuration('during', given.during, 0)
  const scenario = {
    clients: expectWhole('clients', given.clients, 1, 100_000),
    callsPerSecond: expectRange('load', given.load, 0.0001, 100) * capacity,
    workers,
    // Workers are whole: the time is what makes the capacity exact.
    serviceMs: (workers * 1000) / capacity,
    serviceShape: expectOne('serviceShape', given.serviceShape, SERVICE_SHAPES),
    queueLength: Math.round((capacity * expectDuration('queue', given.queue, 0)) / 1000),
    fault,
    amount: expectAmount(fault, given.amount ?? AMOUNTS[fault]),
    faultStartMs,
    faultEndMs,
    endMs: faultEndMs + expectDuration('after', given.after, 1),
    errorRate: expectRange('errorRate', given.errorRate, 0, 1),
    faultShare: expectRange('faultShare', given.faultShare, 0.001, 1),
    keyed: expectFlag('keyed', given.keyed),
    burst: expectWhole('burst', given.burst, 0, 1_000_000),
    restartAtMs: expectDuration('restartAt', given.restartAt, 0) || undefined,
    ignoresSignal: expectFlag('ignoresSignal', given.ignoresSignal),
    neighbours: expectRange('neighbours', given.neighbours, 0, 0.99),
  }
  const calls = (scenario.callsPerSecond * scenario.endMs) / 1000
  if (calls * 10 > MAX_EVENTS) {
    throw new ScenarioError(`of ${Math.round(calls)} calls is too large: lower capacity, load or the times`)
  }
  return scenario
}

function expectNames(input: ScenarioInput): void {
  if (typeof input !== 'object' || input === null)
    throw new ScenarioError(isNot(input, 'an object such as { load: 0.75 }'))
  const names = [...Object.keys(DEFAULTS), 'amount']
  for (const name of Object.keys(input)) {
    if (names.includes(name)) continue
    const near = nearest(name, names)
    throw new ScenarioError(`${name}: unknown field${near === undefined ? '' : `, did you mean ${near}?`}`)
  }
}

function withoutUndefined(input: ScenarioInput): ScenarioInput {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

function expectAmount(fault: FaultKind, amount: unknown): number {
  if (fault === 'slow' || fault === 'overload') return expectRange('amount', amount, 0.01, 10_000)
  if (fault === 'capacity' || fault === 'errors') return expectRange('amount', amount, 0, 1)
  return expectRange('amount', amount, 0, Infinity)
}

function expectRange(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw new ScenarioError(`${name}: ${isNot(value, `a number from ${least} to ${most}`)}`)
}

function expectFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new ScenarioError(`${name}: ${isNot(value, 'true or false')}`)
}

function expectWhole(name: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value)) return expectRange(name, value, least, most)
  throw new ScenarioError(`${name}: ${isNot(value, `a whole number from ${least} to ${most}`)}`)
}

function expectDuration(name: string, value: unknown, leastMs: number): number {
  const ms = Number(readDuration(value))
  if (ms >= leastMs && ms <= 86_400_000) return ms
  throw new ScenarioError(`${name}: ${isNot(value, `a duration such as 20ms, at least ${leastMs}ms, at most 24h`)}`)
}

function expectOne<T extends string>(name: string, value: unknown, words: readonly T[]): T {
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  const near = nearest(String(value), words)
  const help = near === undefined ? '' : `, did you mean ${near}?`
  throw new ScenarioError(`${name}: ${isNot(value, `one of ${words.join(', ')}`)}${help}`)
}
