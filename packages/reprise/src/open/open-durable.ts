/**
 * From an address to durable tasks: the adapter is loaded when its kind of address is asked for, so that nobody needs a
 * driver he does not use. Imports the ledger, the durable driver and the runtime's options.
 */
import { Durable } from '../durable/durable.js'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import { environmentOf, type ExecutorOptions } from '../runtime/executor-options.js'

type Shared = Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'observers' | 'clock' | 'random'>

export interface DurableOptions extends Shared {
  /** Attempts that run at a time in this process. */
  readonly concurrency?: number
  /** How long a process that says nothing is believed to live; renewed at a third of it. */
  readonly leaseMs?: number
  /** What to do with tasks whose policy is not this program's: leave them, or take the new policy and keep the counts. */
  readonly policyChange?: 'refuse' | 'accept'
  /** SQLite: `normal` loses the last commits when the power fails. */
  readonly synchronous?: 'full' | 'normal'
}

/** `sqlite:PATH` or `memory:`. */
export async function openDurable(address: string, options: DurableOptions = {}): Promise<Durable> {
  const { concurrency = 50, leaseMs = 30_000, policyChange = 'refuse', synchronous = 'full', ...shared } = options
  expectWhole('concurrency', concurrency, 1)
  expectWhole('leaseMs', leaseMs, 100)
  const environment = environmentOf(shared)
  const ledger = await openLedger(address, () => environment.exactMs(), synchronous)
  return Durable.open(ledger, environment, { concurrency, leaseMs, policyChange })
}

async function openLedger(address: string, clock: () => number, synchronous: 'full' | 'normal'): Promise<Ledger> {
  if (address === 'memory:') return new MemoryLedger(clock)
  const file = /^sqlite:(.+)$/.exec(address)?.[1]
  if (file !== undefined) {
    const { openSqlite } = await import('../sqlite/open-sqlite.js')
    return openSqlite(file, { clock, synchronous })
  }
  const known = 'sqlite:PATH or memory:'
  throw new LedgerError('unusable', `There is no ledger at ${JSON.stringify(hidePassword(address))}: say ${known}`)
}

function hidePassword(address: string): string {
  return address.replace(/(:\/\/[^:/@]*):[^@/]*@/, '$1:…@')
}

function expectWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new TypeError(`The option ${name} must be a whole number of ${least} or more`)
}
