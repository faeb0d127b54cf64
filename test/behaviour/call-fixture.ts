/**
 * What the behaviour tests share: calls on a virtual clock in every way the executor runs them, promises that are
 * watched instead of awaited, and budgets that write down what they are told.
 */
import { getEventListeners } from 'node:events'
import {
  type AttemptOutcome,
  type Budget,
  type BudgetRequest,
  type CallOptions,
  createExecutor,
  type Decision,
  type Executor,
  type ExecutorOptions,
  type Operation,
  type PolicyInput,
  type RepriseEvent,
  type Timeline,
  timelineOf,
} from 'reprise'
import { seededRandom, virtualClock, type VirtualClock } from 'reprise/testing'

/** A promise whose fate can be read at any time. */
export interface Watched<T = unknown> {
  state: 'pending' | 'fulfilled' | 'rejected'
  value?: T
  error?: unknown
  /** When it settled, on the clock it was watched with. */
  atMs?: number
}

export function watch<T>(promise: Promise<T>, clock?: VirtualClock): Watched<T> {
  const watched: Watched<T> = { state: 'pending' }
  const settle = (fate: Partial<Watched<T>>): void => {
    Object.assign(watched, fate, clock && { atMs: clock.monotonicMs() })
  }
  promise.then(
    (value) => settle({ state: 'fulfilled', value }),
    (error: unknown) => settle({ state: 'rejected', error }),
  )
  return watched
}

/** Every promise that can go on goes on; no time passes. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

export interface CallFixture {
  readonly clock: VirtualClock
  readonly executor: Executor
}

/** An executor on a clock of its own, with `policy` for every key; without jitter, unless the policy has one. */
export function callFixture(policy: PolicyInput = {}, options: ExecutorOptions = {}): CallFixture {
  const clock = virtualClock()
  const defaultPolicy = { jitter: false, ...policy }
  const executor = createExecutor({ defaultPolicy, clock, random: seededRandom(1), ...options })
  return { clock, executor }
}

/** The ways a call may run: the library may take shortcuts in some of them, and nobody should be able to tell. */
export const WAYS = ['alone', 'with a signal', 'observed', 'inspected'] as const
export type Way = (typeof WAYS)[number]

interface Staged<T = unknown> extends Watched<T> {
  /** Of a call that has failed, or was inspected. */
  timeline?: Timeline | undefined
}

export interface WayFixture extends CallFixture {
  readonly events: RepriseEvent[]
  readonly call: <T>(operation: Operation<T>, options?: CallOptions) => Staged<T>
  /** Starts a call and lets all time pass. */
  readonly play: <T>(operation: Operation<T>, options?: CallOptions) => Promise<Staged<T>>
}

export function wayFixture(way: Way, policy: PolicyInput = {}, options: ExecutorOptions = {}): WayFixture {
  const events: RepriseEvent[] = []
  const observers = way === 'observed' ? [{ onEvent: (event: RepriseEvent) => void events.push(event) }] : []
  const { clock, executor } = callFixture(policy, { observers, ...options })

  function call<T>(operation: Operation<T>, given: CallOptions = {}): Staged<T> {
    if (way === 'inspected') return inspected(operation, given)
    const signal = way === 'with a signal' ? new AbortController().signal : undefined
    const staged: Staged<T> = watch(executor.run('job', operation, { signal, ...given }), clock)
    Object.defineProperty(staged, 'timeline', { get: () => timelineOf(staged.error) })
    return staged
  }

  function inspected<T>(operation: Operation<T>, given: CallOptions): Staged<T> {
    let timeline: Timeline | undefined
    const result = executor.inspect('job', operation, given).then((inspection) => {
      timeline = inspection.timeline
      if (inspection.ok) return inspection.value
      throw inspection.error
    })
    const staged: Staged<T> = watch(result, clock)
    Object.defineProperty(staged, 'timeline', { get: () => timeline })
    return staged
  }

  async function play<T>(operation: Operation<T>, given?: CallOptions): Promise<Staged<T>> {
    const staged = call(operation, given)
    await clock.runAll()
    return staged
  }

  return { clock, executor, events, call, play }
}

/** An operation that fails with each of `errors` in turn, then with the last of them, and counts its calls. */
export function failing(...errors: readonly unknown[]): Operation<never> & { calls: number } {
  const operation = Object.assign(
    (): never => {
      const index = Math.min(operation.calls++, errors.length - 1)
      throw errors[index]
    },
    { calls: 0 },
  )
  return operation
}

/** An operation whose attempts are settled by the test. It ignores its signal, but remembers it. */
export class Manual<T = string> {
  readonly attempts: {
    readonly attempt: number
    readonly launch: number
    readonly kind: string
    readonly signal: AbortSignal
    resolve(value: T): void
    reject(error: unknown): void
  }[] = []

  readonly operation: Operation<T> = (context) =>
    new Promise<T>((resolve, reject) => {
      const { attempt, launch, kind, signal } = context
      this.attempts.push({ attempt, launch, kind, signal, resolve, reject })
    })

  get calls(): number {
    return this.attempts.length
  }

  at(index: number): (typeof this.attempts)[number] {
    const attempt = this.attempts[index]
    if (attempt === undefined) throw new Error(`attempt ${index} has not been launched`)
    return attempt
  }
}

export type Ask = Omit<BudgetRequest, 'toJSON'>

function copyOf(request: BudgetRequest): Ask {
  const { key, attempt, launch, kind, ref, now, deadlineMs, attemptTimeoutMs } = request
  return { key, attempt, launch, kind, ref: { ...ref }, now, deadlineMs, attemptTimeoutMs }
}

/** Answers what it is told to answer, and writes down what it was asked and told. */
export class Recorder implements Budget {
  readonly asks: Ask[] = []
  readonly released: AttemptOutcome[] = []
  allowed = 0
  private readonly answer: (ask: Ask) => boolean | string

  /** `true` allows, `false` denies, a text denies with that reason. */
  constructor(answer: (ask: Ask) => boolean | string = () => true) {
    this.answer = answer
  }

  allowAttempt(request: BudgetRequest): Decision {
    const ask = copyOf(request)
    this.asks.push(ask)
    const answer = this.answer(ask)
    if (answer !== true) return { allowed: false, reason: answer === false ? '' : answer }
    this.allowed++
    return { allowed: true, reason: '', release: (outcome) => void this.released.push(outcome) }
  }
}

/** A small budget that parks: so many places, a line in order, and polls at a time the test sets. */
export class ParkingLot implements Budget {
  readonly asks: Ask[] = []
  readonly settled: { readonly launch: number; readonly outcome: AttemptOutcome }[] = []
  readonly polls: number[] = []
  readonly line: { readonly request: BudgetRequest; readonly wake: (grant: Decision) => void }[] = []
  declare maxParkMs?: number
  free: number
  /** When to be polled; a poll gives a place to the first in line. */
  pollAtMs = Infinity
  /** How often somebody left the line by himself. */
  gaveUp = 0

  constructor(places: number, maxParkMs?: number) {
    this.free = places
    if (maxParkMs !== undefined) this.maxParkMs = maxParkMs
  }

  allowAttempt(request: BudgetRequest): Decision {
    this.asks.push(copyOf(request))
    if (this.free === 0 || this.line.length > 0) return { allowed: false, reason: 'full' }
    this.free--
    return { allowed: true, reason: 'place' }
  }

  settle(request: BudgetRequest, outcome: AttemptOutcome): void {
    this.settled.push({ launch: request.launch, outcome })
    this.free++
    this.admitNext()
  }

  park(request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    const place = { request, wake }
    this.line.push(place)
    return () => {
      this.gaveUp++
      this.line.splice(this.line.indexOf(place), 1)
    }
  }

  wakeAtMs(): number {
    return this.pollAtMs
  }

  poll(now: number): void {
    this.polls.push(now)
    this.pollAtMs = Infinity
    this.free++
    this.admitNext()
  }

  private admitNext(): void {
    if (this.free === 0) return
    const first = this.line.shift()
    if (first === undefined) return
    this.free--
    first.wake({ allowed: true, reason: 'woken' })
  }
}

export function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

/** The types of events, in order. */
export function typesOf(events: readonly RepriseEvent[]): string[] {
  return events.map((event) => event.type)
}
