/**
 * From an address to durable tasks: the adapter is loaded when its kind of address is asked for, so that nobody needs a
 * driver he does not use. Imports the ledger, the durable driver and the runtime's options.
 */
import type { BreakerInput } from '../core/policy.js'
import { nearest } from '../core/suggest.js'
import { Durable } from '../durable/durable.js'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import type { Environment } from '../runtime/environment.js'
import { environmentOf, type ExecutorOptions } from '../runtime/executor-options.js'

type Shared = Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'observers' | 'clock' | 'random'>

export interface DurableOptions extends Shared {
  /** Attempts that run at a time in this process. Default: 50. */
  readonly concurrency?: number
  /** How long a process that says nothing is believed to live; renewed at a third of it. Default: 30 000. */
  readonly leaseMs?: number
  /** What to do with tasks whose policy is not this program's: leave them, or take the new policy and keep the counts. */
  readonly policyChange?: 'refuse' | 'accept'
  /** Settings of breakers by key, in place of what the policies that name the key say. */
  readonly breakers?: Readonly<Record<string, BreakerInput>>
  /** SQLite: `normal` is faster, and loses the last commits when the power fails. */
  readonly synchronous?: 'full' | 'normal'
}

type Check = readonly [(value: unknown) => boolean, string]

const isWhole =
  (least: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least

const CHECKS: Readonly<Record<Exclude<keyof DurableOptions, keyof Shared>, Check>> = {
  concurrency: [isWhole(1), 'a whole number of 1 or more'],
  leaseMs: [isWhole(100), 'a whole number of 100 or more'],
  policyChange: [(value) => value === 'refuse' || value === 'accept', "'refuse' or 'accept'"],
  breakers: [(value) => typeof value === 'object' && value !== null, 'an object with settings for each key'],
  synchronous: [(value) => value === 'full' || value === 'normal', "'full' or 'normal'"],
}
const SHARED = ['budgets', 'missingBudgetMode', 'observers', 'clock', 'random'] as const

/** `sqlite:PATH` or `memory:`; or a ledger that is open already, which is closed with the rest. */
export async function openDurable(address: string | Ledger, options: DurableOptions = {}): Promise<Durable> {
  checkOptions(options)
  const { concurrency = 50, leaseMs = 30_000, policyChange = 'refuse', breakers, synchronous, ...shared } = options
  const environment = environmentOf(shared)
  const ledger = typeof address === 'string' ? await openLedger(address, environment, synchronous) : address
  const settings = { concurrency, leaseMs, policyChange, ...(breakers && { breakers }) }
  try {
    return await Durable.open(ledger, environment, settings)
  } catch (error) {
    await ledger.close()
    throw error
  }
}

async function openLedger(
  address: string,
  environment: Environment,
  synchronous: 'full' | 'normal' = 'full',
): Promise<Ledger> {
  const clock = (): number => environment.exactMs()
  const wall = (): number => environment.clock.wallMs()
  if (address === 'memory:') return new MemoryLedger(clock, wall)
  const file = /^sqlite:(.+)$/.exec(address)?.[1]
  if (file !== undefined) {
    const { openSqlite } = await import('../sqlite/open-sqlite.js')
    return openSqlite(file, { clock, wall, synchronous })
  }
  const known = 'sqlite:PATH or memory:'
  throw new LedgerError('unusable', `There is no ledger at ${JSON.stringify(hidePassword(address))}: say ${known}`)
}

/** The shared ones are checked with those of executors. */
function checkOptions(options: DurableOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if ((SHARED as readonly string[]).includes(name)) continue
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof typeof CHECKS] : undefined
    if (check === undefined) {
      const near = nearest(name, [...Object.keys(CHECKS), ...SHARED])
      throw new TypeError(`Unknown option ${name}${near === undefined ? '' : `: did you mean ${near}?`}`)
    }
    if (value !== undefined && !check[0](value)) throw new TypeError(`The option ${name} must be ${check[1]}`)
  }
}

function hidePassword(address: string): string {
  return address.replace(/(:\/\/[^:/@]*):[^@/]*@/, '$1:…@')
}
