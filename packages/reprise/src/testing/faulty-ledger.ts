/**
 * A ledger that fails by plan, in front of one that does not: for tests of drivers and of programs. Imports the ledger's
 * port and its errors.
 *
 * Two ways to fail, since a caller cannot tell them apart and must be right in both: `before`, nothing was done; `after`,
 * it was done and the answer was lost. From the first fault on nothing reaches the store any more, as with a disk that
 * is full; `lasting: false` makes it a single hiccup, as of a connection.
 */
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'

/** What a ledger can be asked. */
export type LedgerVerb = Exclude<keyof Ledger, 'name' | 'spans'>

/** `before`: refused, nothing was done. `after`: it was done, and the caller is told that it failed. */
export type LedgerFault = 'before' | 'after'

/** One thing that the ledger was asked. */
export interface LedgerOperation {
  /** What it was asked. */
  readonly verb: LedgerVerb
  /** Among all operations, from 1. */
  readonly index: number
  /** Among those of its verb, from 1. */
  readonly count: number
}

/** When and how a ledger fails. */
export interface FaultPlan {
  /**
   * The operation that fails: by its index from 1, or by what the function answers.
   * @default none fails
   * @example { failAt: ({ verb, count }) => (verb === 'transact' && count === 2 ? 'after' : undefined) }
   */
  readonly failAt?: number | ((operation: LedgerOperation) => LedgerFault | undefined)
  /** How the operation that was named by its index fails. @default 'before' @example { failAt: 3, kind: 'after' } */
  readonly kind?: LedgerFault
  /**
   * Makes the error that is thrown.
   * @default a `LedgerError` that names the ledger and the operation
   * @example { error: ({ verb }) => new Error(`no ${verb} today`) }
   */
  readonly error?: (operation: LedgerOperation) => unknown
  /**
   * Whether the ledger stays unusable after the first fault. Closing it is still possible.
   * @default true
   * @example { lasting: false }
   */
  readonly lasting?: boolean
  /**
   * Waited for before the operation: a clock's `sleep`, or a promise that the test settles.
   * @default none
   * @example { delay: ({ verb }) => (verb === 'claim' ? clock.sleep('1s') : undefined) }
   */
  readonly delay?: (operation: LedgerOperation) => PromiseLike<unknown> | undefined
}

/** A ledger that fails by plan, and records what it was asked. */
export interface FaultyLedger extends Ledger {
  /** What it was asked to do so far, in order; what failed included. */
  readonly operations: readonly LedgerOperation[]
  /** What failed by plan; operations refused afterwards are not among them. */
  readonly faults: readonly LedgerOperation[]
}

type Call = (...args: unknown[]) => Promise<unknown>

/**
 * Wraps a ledger, so that it fails as `plan` says.
 * @example
 * const broken = faultyLedger(new MemoryLedger(), { failAt: 3, kind: 'after' })
 * const tasks = await openDurable(broken)
 */
export function faultyLedger(ledger: Ledger, plan: FaultPlan): FaultyLedger {
  const faults = new Faults(ledger.name, plan)
  // A proxy, so that a verb that the port gains later is counted and fails like the others.
  return new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'operations') return faults.operations
      if (name === 'faults') return faults.planned
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => faults.pass(name as LedgerVerb, () => (value as Call).apply(target, args))
    },
  }) as FaultyLedger
}

class Faults {
  readonly operations: LedgerOperation[] = []
  readonly planned: LedgerOperation[] = []
  private readonly name: string
  private readonly plan: FaultPlan
  private broken: { readonly error: unknown } | undefined = undefined

  constructor(name: string, plan: FaultPlan) {
    this.name = name
    this.plan = plan
  }

  async pass(verb: LedgerVerb, call: () => Promise<unknown>): Promise<unknown> {
    const count = this.operations.filter((other) => other.verb === verb).length + 1
    const operation: LedgerOperation = { verb, index: this.operations.length + 1, count }
    this.operations.push(operation)
    await this.plan.delay?.(operation)
    if (this.broken !== undefined && verb !== 'close') throw this.broken.error
    const fault = this.faultOf(operation)
    if (fault === undefined) return call()
    this.planned.push(operation)
    const error = this.plan.error?.(operation) ?? this.errorOf(operation)
    // Set before anything is waited for: nothing may slip through behind the fault.
    if (this.plan.lasting !== false) this.broken = { error }
    if (fault === 'after') await call()
    throw error
  }

  private faultOf(operation: LedgerOperation): LedgerFault | undefined {
    const { failAt, kind = 'before' } = this.plan
    if (typeof failAt === 'function') return failAt(operation)
    return operation.index === failAt ? kind : undefined
  }

  private errorOf({ verb, index }: LedgerOperation): LedgerError {
    return new LedgerError('unusable', `The ledger ${this.name} failed by plan: operation ${index}, ${verb}`)
  }
}
