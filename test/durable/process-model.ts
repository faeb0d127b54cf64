/**
 * A ledger in memory, a clock that stands still, and processes as models of themselves: each reaches the ledger through a
 * line of its own that can be cut (`kill -9`), held (SIGSTOP) or slow (another machine's database). Imports sources.
 */
import { virtualClock, type VirtualClock } from 'reprise/testing'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { OwnerRecord, ScopeKind, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { environmentOf, type ExecutorOptions } from '../../packages/reprise/src/runtime/executor-options.js'
import { clockReading } from '../clock-reading.js'

export interface HostOptions extends Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'random' | 'observers'> {
  readonly concurrency?: number
  readonly policyChange?: 'refuse' | 'accept'
  /** Every verb takes turns of the event loop, as over a network. */
  readonly slow?: boolean
  /** On the machine of this process: others see that the host's process exists. @default on a machine of its own */
  readonly isHere?: boolean
  /** @default longer than any test */
  readonly leaseMs?: number
}

/** Renewed by the host's own timer: so long that no test sees it. */
export const LEASE_MS = 86_400_000

export class Line {
  readonly ledger: Ledger
  owner: OwnerRecord | undefined = undefined
  private state: 'open' | 'held' | 'cut' | Error = 'open'
  private held: (() => void)[] = []

  constructor(target: Ledger, slow: boolean) {
    this.ledger = new Proxy(target, {
      get: (_target, verb: keyof Ledger) => {
        const value: unknown = target[verb]
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => this.pass(verb, args, slow, value.bind(target) as Verb)
      },
    })
  }

  cut(): void {
    this.state = 'cut'
  }

  hold(): void {
    this.state = 'held'
  }

  /** From now on every verb rejects. */
  break(error: Error): void {
    this.state = error
  }

  release(): void {
    this.state = 'open'
    for (const go of this.held.splice(0)) go()
  }

  private async pass(verb: keyof Ledger, args: unknown[], slow: boolean, call: Verb): Promise<unknown> {
    if (verb === 'close') this.state = new Error('closed')
    else if (verb === 'heartbeat') this.owner = args[0] as OwnerRecord
    if (slow) await turn()
    if (this.state === 'held') await new Promise<void>((resolve) => this.held.push(resolve))
    if (this.state === 'cut') return new Promise<never>(() => undefined)
    if (this.state instanceof Error && verb !== 'close') throw this.state
    const answer = await call(...args)
    if (slow) await turn()
    return this.isCut() ? new Promise<never>(() => undefined) : answer
  }

  private isCut(): boolean {
    return this.state === 'cut'
  }
}

type Verb = (...args: unknown[]) => Promise<unknown>

export interface Host {
  readonly durable: Durable
  readonly line: Line
  /** As by `kill -9`: it writes nothing more, and others find its lease run out. */
  kill(): Promise<void>
  /** Others find its lease run out, though it lives. */
  expire(): Promise<void>
}

export class ProcessModel {
  clock: VirtualClock
  readonly ledger: Ledger
  private environmentNow: () => number
  private hosts = 0

  constructor(wrap: (ledger: MemoryLedger) => Ledger = (ledger) => ledger) {
    this.clock = virtualClock({ startMs: 1_000_000_000 })
    this.environmentNow = () => this.clock.wallMs()
    this.ledger = wrap(new MemoryLedger({ clock: clockReading(() => this.environmentNow()) }))
  }

  get now(): number {
    return this.environmentNow()
  }

  /** The clock of the machine is set: processes that start from now on see another time. */
  setClock(wallMs: number): void {
    this.clock = virtualClock({ startMs: wallMs })
  }

  async open(options: HostOptions = {}): Promise<Host> {
    const {
      concurrency = 50,
      policyChange = 'refuse',
      slow = false,
      isHere = false,
      leaseMs = LEASE_MS,
      ...shared
    } = options
    const line = new Line(this.ledger, slow)
    const environment = environmentOf({ ...shared, clock: this.clock })
    // Each on a machine of its own: what is known of the others is their lease.
    const identity = { ...ownIdentity(), ...(!isHere && { host: `host-${++this.hosts}` }) }
    const onFailure = (): void => undefined
    const settings = { concurrency, leaseMs, policyChange, identity, onFailure }
    const durable = await Durable.open(line.ledger, environment, settings)
    const expire = (): Promise<void> => this.expire(line.owner as OwnerRecord)
    const kill = async (): Promise<void> => {
      line.cut()
      await expire()
    }
    return { durable, line, kill, expire }
  }

  async task(scope: string, id: string, scopeKind: ScopeKind = 'task'): Promise<TaskRecord> {
    const task = await this.ledger.get({ scopeKind, scope, id })
    if (task === undefined) throw new Error(`There is no task ${scope}/${id}`)
    return task
  }

  private async expire(owner: OwnerRecord): Promise<void> {
    await this.ledger.heartbeat({ ...owner, leaseUntilMs: 0 })
  }
}

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lets everything go on that can, without letting time pass. */
export async function turns(count = 20): Promise<void> {
  for (let index = 0; index < count; index++) await turn()
}

/** Waits until `condition` holds, for a bounded number of looks. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  for (let look = 0; look < 4000; look++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`${what} did not come true`)
}

/** What `promise` rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection')
}

/** Whether a promise has settled by now. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  const first = await Promise.race([promise.catch(() => undefined), turns(5).then(() => pending)])
  return first !== pending
}

/** A promise that a test settles by hand. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, resolve: (value) => settle?.resolve(value), reject: (error) => settle?.reject(error) }
}
