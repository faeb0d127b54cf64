/**
 * What is simulated: clients, one server, and what happens to it. What people write is checked and completed here; the
 * rest of the simulator sees milliseconds and rates. Imports core only.
 */
import { readDuration } from '../core/duration.js'
import { OptionsError } from '../core/errors.js'
import { expectOptions } from '../core/options.js'
import type { DurationInput } from '../core/policy.js'
import { didYouMean, isNot, Place, type Report } from '../core/problems.js'
import { SERVICE_SHAPES, type ServiceShape } from './chance.js'

/**
 * `hang`: nothing is answered, what waits goes on waiting. `refuse`: everything fails at once. `capacity`: `amount` is
 * the share of workers left. `slow`: every answer takes `amount` times as long. `errors`: this share of answers fails.
 * `flap`: hangs and works by turns of 2 s. `overload`: clients make `amount` times as many calls. `none`: nothing happens.
 */
export const FAULT_KINDS = ['none', 'hang', 'refuse', 'capacity', 'slow', 'errors', 'flap', 'overload'] as const
/** What goes wrong in a scenario: see `FAULT_KINDS`. */
export type FaultKind = (typeof FAULT_KINDS)[number]

/** What is simulated. Every field has a default; a wrong value is refused. */
export interface ScenarioInput {
  /** Clients, each with budgets of its own: 1 to 100 000. @default 100 @example { clients: 1000 } */
  readonly clients?: number | undefined
  /** Calls offered, as a share of what the server can do: 0.0001 to 100. @default 0.75 @example { load: 0.9 } */
  readonly load?: number | undefined
  /** What the server can do, in answers per second: 0.01 to 1 000 000. @default 1000 @example { capacity: 200 } */
  readonly capacity?: number | undefined
  /** Mean time to serve one request, without waiting. @default '20ms' @example { serviceTime: '100ms' } */
  readonly serviceTime?: DurationInput | undefined
  /** How service times vary around their mean. @default 'exponential' @example { serviceShape: 'long-tail' } */
  readonly serviceShape?: ServiceShape | undefined
  /**
   * The server's queue, in time at full capacity; requests beyond it are refused.
   * @default '2s'
   * @example { queue: '500ms' }
   */
  readonly queue?: DurationInput | undefined
  /** What goes wrong. @default 'hang' @example { fault: 'errors' } */
  readonly fault?: FaultKind | undefined
  /**
   * How bad the fault is: see `FAULT_KINDS`.
   * @default 0.5 for `capacity`, 3 for `slow`, 0.2 for `errors`, 1.4 for `overload`
   * @example { fault: 'slow', amount: 10 }
   */
  readonly amount?: number | undefined
  /** From the start to the fault. @default '30s' @example { before: '10s' } */
  readonly before?: DurationInput | undefined
  /** How long the fault goes on. @default '30s' @example { during: '5m' } */
  readonly during?: DurationInput | undefined
  /** From the end of the fault to the end of the simulation. @default '120s' @example { after: '5m' } */
  readonly after?: DurationInput | undefined
  /** Share of answers that fail at random, always: 0 to 1. @default 0 @example { errorRate: 0.01 } */
  readonly errorRate?: number | undefined
  /**
   * Share of traffic and capacity that the fault hits, above 0 and up to 1: a shard or an endpoint. The rest has a
   * server of its own.
   * @default 1
   * @example { faultShare: 0.1 }
   */
  readonly faultShare?: number | undefined
  /**
   * Calls to the part that the fault hits have a key of their own, so that `perKey` keeps a budget for them.
   * @default false
   * @example { faultShare: 0.1, keyed: true }
   */
  readonly keyed?: boolean | undefined
  /**
   * Calls made at once when the fault starts, spread over the clients: 0 to 1 000 000.
   * @default 0
   * @example { burst: 5000 }
   */
  readonly burst?: number | undefined
  /**
   * When all clients are replaced by new ones without history; 0 for never. Calls of the old ones go on to their end.
   * @default 0
   * @example { restartAt: '45s' }
   */
  readonly restartAt?: DurationInput | undefined
  /**
   * Whether operations go on until the server answers, though their callers have given them up.
   * @default false
   * @example { ignoresSignal: true }
   */
  readonly ignoresSignal?: boolean | undefined
  /**
   * Share of clients that retry three times without a budget, 0 to 0.99. Their calls are not in the figures.
   * @default 0
   * @example { neighbours: 0.5 }
   */
  readonly neighbours?: number | undefined
}

/** A scenario with nothing left out, its durations in milliseconds. `amount` is there for faults that have one. */
export type CompleteScenario = ScenarioInput &
  Readonly<Record<'serviceShape', ServiceShape> & Record<'fault', FaultKind>> &
  Readonly<Record<'keyed' | 'ignoresSignal', boolean>> &
  Readonly<Record<CompletedNumber, number>>

type CompletedNumber =
  | ('clients' | 'load' | 'capacity' | 'serviceTime' | 'queue' | 'before' | 'during' | 'after')
  | ('errorRate' | 'faultShare' | 'burst' | 'restartAt' | 'neighbours')

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

/** Of the faults that can be more or less. */
const AMOUNTS: Readonly<Partial<Record<FaultKind, number>>> = { capacity: 0.5, slow: 3, errors: 0.2, overload: 1.4 }

/** A simulation of more than this would run for minutes. */
const MAX_EVENTS = 50_000_000

/** Fills in the defaults: `simulate` gives the same figures for the result. Throws an `OptionsError` with every problem. */
export function completeScenario(input: ScenarioInput = {}): CompleteScenario {
  expectNames(input)
  const given = { ...DEFAULTS, ...withoutUndefined(input) }
  const report: Report = { problems: [], notes: [] }
  const at = (name: keyof ScenarioInput): Place => new Place(name, report)
  const fault = oneOf(given.fault, at('fault'), FAULT_KINDS)
  const capacity = inRange(given.capacity, at('capacity'), 0.01, 1_000_000)
  const serviceTime = periodOf(given.serviceTime, at('serviceTime'), 0.01)
  const before = periodOf(given.before, at('before'), 1)
  const during = periodOf(given.during, at('during'), 0)
  const clients = whole(given.clients, at('clients'), 1, 100_000)
  const load = inRange(given.load, at('load'), 0.0001, 100)
  const serviceShape = oneOf(given.serviceShape, at('serviceShape'), SERVICE_SHAPES)
  const queue = periodOf(given.queue, at('queue'), 0)
  const amount = amountOf(fault, given.amount ?? AMOUNTS[fault] ?? 0, at('amount'))
  const scenario = {
    ...{ clients, load, capacity, serviceTime, serviceShape, queue, fault, before, during },
    after: periodOf(given.after, at('after'), 1),
    errorRate: inRange(given.errorRate, at('errorRate'), 0, 1),
    faultShare: inRange(given.faultShare, at('faultShare'), 0.001, 1),
    keyed: flag(given.keyed, at('keyed')),
    burst: whole(given.burst, at('burst'), 0, 1_000_000),
    restartAt: periodOf(given.restartAt, at('restartAt'), 0),
    ignoresSignal: flag(given.ignoresSignal, at('ignoresSignal')),
    neighbours: inRange(given.neighbours, at('neighbours'), 0, 0.99),
    ...(AMOUNTS[fault] !== undefined && { amount }),
  }
  expectFeasible(scenario, report)
  if (report.problems.length > 0) throw new OptionsError('simulate', report.problems)
  return scenario
}

/** As the simulator needs it. */
export function readScenario(input?: ScenarioInput): Scenario {
  const scenario = completeScenario(input)
  const { load, capacity, queue, amount = 0, before, during, after, restartAt } = scenario
  const { clients, serviceShape, fault, errorRate, faultShare, keyed, burst, ignoresSignal, neighbours } = scenario
  const workers = Math.max(1, Math.round((capacity * scenario.serviceTime) / 1000))
  return {
    ...{
      clients,
      serviceShape,
      fault,
      errorRate,
      faultShare,
      keyed,
      burst,
      ignoresSignal,
      neighbours,
      workers,
      amount,
    },
    callsPerSecond: load * capacity,
    // Workers are whole: the time is what makes the capacity exact.
    serviceMs: (workers * 1000) / capacity,
    queueLength: Math.round((capacity * queue) / 1000),
    faultStartMs: before,
    faultEndMs: before + during,
    endMs: before + during + after,
    restartAtMs: restartAt || undefined,
  }
}

function expectNames(input: ScenarioInput): void {
  const names = [...Object.keys(DEFAULTS), 'amount']
  expectOptions('simulate', input, {}, { others: names })
}

function withoutUndefined(input: ScenarioInput): ScenarioInput {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** Where a number is wrong the sum is NaN, and nothing more is said. */
function expectFeasible({ load, capacity, before, during, after }: CompleteScenario, report: Report): void {
  const calls = (load * capacity * (before + during + after)) / 1000
  if (!(calls * 10 > MAX_EVENTS)) return
  new Place('', report).fail(`${Math.round(calls)} calls are too many`, 'lower capacity, load or the times')
}

// What follows gives the value, or tells the problem and gives one with which reading goes on.

function amountOf(fault: FaultKind, amount: unknown, place: Place): number {
  if (fault === 'slow' || fault === 'overload') return inRange(amount, place, 0.01, 10_000)
  if (fault === 'capacity' || fault === 'errors') return inRange(amount, place, 0, 1)
  return inRange(amount, place, 0, Infinity)
}

function inRange(value: unknown, place: Place, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value
  place.fail(isNot(value, `a number from ${least} to ${most}`))
  return Number.NaN
}

function flag(value: unknown, place: Place): boolean {
  if (typeof value !== 'boolean') place.fail(isNot(value, 'true or false'))
  return value === true
}

function whole(value: unknown, place: Place, least: number, most: number): number {
  if (Number.isInteger(value)) return inRange(value, place, least, most)
  place.fail(isNot(value, `a whole number from ${least} to ${most}`))
  return Number.NaN
}

function periodOf(value: unknown, place: Place, leastMs: number): number {
  const ms = Number(readDuration(value))
  if (ms >= leastMs && ms <= 86_400_000) return ms
  place.fail(isNot(value, `a duration such as 20ms, at least ${leastMs}ms, at most 24h`))
  return Number.NaN
}

function oneOf<T extends string>(value: unknown, place: Place, words: readonly [T, ...T[]]): T {
  const found = words.find((word) => word === value)
  if (found === undefined) place.fail(isNot(value, `one of ${words.join(', ')}`), didYouMean(value, words))
  return found ?? words[0]
}
