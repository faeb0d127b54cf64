/**
 * From an address to durable tasks: the adapter is loaded when its kind of address is asked for, so that nobody needs a
 * driver he does not use. Imports the ledger, the durable driver and the runtime's options.
 */
import { parseDuration } from '../core/duration.js'
import { isRepriseError, type OptionProblem } from '../core/errors.js'
import { normalizePolicy } from '../core/normalize.js'
import {
  CLOCK,
  durationCheck,
  expectNone,
  expectOptions,
  FLAG,
  type OptionCheck,
  optionProblems,
} from '../core/options.js'
import type { BreakerInput, DurationInput } from '../core/policy.js'
import { Durable } from '../durable/durable.js'
import { readRetention, type RetentionInput, retentionOf } from '../durable/retention.js'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import type { OwnerIdentity } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { environmentOf, type ExecutorOptions, sharedProblems } from '../runtime/executor-options.js'

type Shared = Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'observers' | 'clock' | 'random'>

/** Options of `openDurable`. An option that is misspelt or of the wrong type is refused. */
export interface DurableOptions extends Shared {
  /**
   * Attempts that run at a time in this process: a whole number of 1 or more.
   * @default 50
   * @example { concurrency: 10 }
   */
  readonly concurrency?: number
  /**
   * How long a process without a heartbeat is believed to live; renewed at a third of it. From 100 ms to 1 day.
   * @default '30s'
   * @example { lease: '1m' }
   */
  readonly lease?: DurationInput
  /**
   * What to do with tasks whose policy is not this program's: leave them (`refuse`), or take the new policy and keep
   * the counts (`accept`).
   * @default 'refuse'
   * @example { policyChange: 'accept' }
   */
  readonly policyChange?: 'refuse' | 'accept'
  /**
   * Settings of breakers by key, in place of what the policies that name the key say.
   * @default what the policies say
   * @example { breakers: { mail: { failureThreshold: 10 } } }
   */
  readonly breakers?: Readonly<Record<string, BreakerInput>>
  /**
   * How long finished tasks and their history are kept.
   * @default for ever
   * @example { retention: { succeeded: '7d', failed: '90d' } }
   */
  readonly retention?: RetentionInput
  /**
   * What this process says of itself: shown by `reprise store status`, and to other processes as `others`.
   * @default nothing
   * @example { identity: { role: 'worker', site: 'eu', version: '1.4.2' } }
   */
  readonly identity?: OwnerIdentity
  /**
   * Called when the store fails while no caller waits for anything.
   * @default the failure is an unhandled rejection
   * @example { onFailure: (error) => console.error(error) }
   */
  readonly onFailure?: (error: unknown) => void
  /**
   * SQLite: `normal` is faster, and loses the last commits when the power fails.
   * @default 'full'
   * @example { synchronous: 'normal' }
   */
  readonly synchronous?: 'full' | 'normal'
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What an address is opened with. */
const LEDGER_CHECKS = {
  synchronous: [(value) => value === 'full' || value === 'normal', "'full' or 'normal'"],
} satisfies Readonly<Record<string, OptionCheck>>

const CHECKS: Readonly<Record<Exclude<keyof DurableOptions, keyof Shared>, OptionCheck>> = {
  concurrency: [(value) => Number.isSafeInteger(value) && (value as number) >= 1, 'a whole number of 1 or more'],
  lease: durationCheck("a duration from 100ms to 1d such as '30s'", 100, 86_400_000),
  policyChange: [(value) => value === 'refuse' || value === 'accept', "'refuse' or 'accept'"],
  breakers: [isObject, 'an object that has settings for each key'],
  onFailure: [(value) => typeof value === 'function', 'a function'],
  // Checked field by field, where it is read.
  retention: [() => true, ''],
  identity: [isObject, 'an object with role, site or version'],
  ...LEDGER_CHECKS,
}
/** They are shown in tables. */
const SHORT_TEXT: OptionCheck = [
  (value) => typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(value),
  'a text of 1 to 128 characters without control characters',
]
const IDENTITY_CHECKS = { role: SHORT_TEXT, site: SHORT_TEXT, version: SHORT_TEXT } satisfies Readonly<
  Record<keyof OwnerIdentity, OptionCheck>
>
const SHARED = ['budgets', 'missingBudgetMode', 'observers', 'clock', 'random'] as const

/**
 * Opens durable tasks on a store: `sqlite:PATH`, `postgres://…` or `memory:`, or an open ledger, which `close` closes.
 * Rejects with an `OptionsError` or a `LedgerError`.
 * @example
 * const tasks = await openDurable('sqlite:./tasks.db', { concurrency: 10 })
 * const send = tasks.task('send', { attempts: 5 }, async ({ to }: { to: string }) => `sent to ${to}`)
 * await tasks.resume()
 */
export async function openDurable(address: string | Ledger, options: DurableOptions = {}): Promise<Durable> {
  expectAddress(address)
  expectNone('openDurable', durableProblems(options))
  const { concurrency = 50, lease = '30s', policyChange = 'refuse', breakers, ...rest } = options
  const { retention, identity, synchronous, onFailure, ...shared } = rest
  const environment = environmentOf(shared, 'openDurable')
  const ledger = typeof address === 'string' ? await ledgerAt(address, environment, synchronous) : address
  const settings = {
    concurrency,
    leaseMs: Math.round(parseDuration(lease)),
    policyChange,
    retention: retentionOf(retention),
    ...(breakers && { breakers }),
    ...(identity && { about: { ...identity } }),
    ...(onFailure && { onFailure }),
    ...(typeof address === 'string' && { address: () => address }),
  }
  try {
    return await Durable.open(ledger, environment, settings)
  } catch (error) {
    await ledger.close()
    throw error
  }
}

function durableProblems(options: DurableOptions): OptionProblem[] {
  const own = optionProblems(options, CHECKS, { others: SHARED })
  if (!isObject(options)) return own
  const shared = Object.fromEntries(Object.entries(options).filter(([name]) => SHARED.some((one) => one === name)))
  const { retention = {}, breakers, identity = {} } = options
  const named = isObject(identity) ? optionProblems(identity, IDENTITY_CHECKS) : []
  return [
    ...own,
    ...sharedProblems(shared),
    ...readRetention(retention).problems,
    ...breakerProblems(breakers),
    ...named.map((problem) => ({ ...problem, path: `identity.${problem.path}` })),
  ]
}

function breakerProblems(breakers: unknown): OptionProblem[] {
  if (!isObject(breakers)) return []
  return Object.entries(breakers as object).flatMap(([key, breaker]: [string, unknown]) => {
    try {
      normalizePolicy({ breaker: isObject(breaker) ? { ...(breaker as object), key } : breaker })
      return []
    } catch (error) {
      if (!isRepriseError(error, 'invalid_policy')) throw error
      return error.problems.map((problem) => ({ ...problem, path: problem.path.replace('breaker', `breakers.${key}`) }))
    }
  })
}

/** Options of `openLedger`. */
export interface LedgerOptions extends Pick<DurableOptions, 'clock' | 'synchronous'> {
  /** Whether a store that is not there is made. @default true @example { create: false } */
  readonly create?: boolean
  /**
   * Opens the store to read: nothing is made or brought up to date, and a schema of another version is refused.
   * @default false
   * @example { readOnly: true }
   */
  readonly readOnly?: boolean
}

/**
 * Opens a store alone, to read it without working on its tasks: `sqlite:PATH`, `postgres://…` or `memory:`. Rejects
 * with a `LedgerError` if it cannot be opened.
 * @example
 * const store = await openLedger('sqlite:./tasks.db', { readOnly: true })
 * const failed = await store.list({ statuses: ['failed'] })
 */
export async function openLedger(address: string, options: LedgerOptions = {}): Promise<Ledger> {
  expectOptions('openLedger', options, { clock: CLOCK, ...LEDGER_CHECKS, create: FLAG, readOnly: FLAG })
  const { synchronous, create, readOnly, ...shared } = options
  return ledgerAt(address, environmentOf(shared, 'openLedger'), synchronous, create, readOnly)
}

async function ledgerAt(
  address: string,
  environment: Environment,
  synchronous: 'full' | 'normal' = 'full',
  create = true,
  readOnly = false,
): Promise<Ledger> {
  const { clock } = environment
  if (address === 'memory:') return new MemoryLedger({ clock })
  const file = /^sqlite:(.+)$/s.exec(address)?.[1]
  if (file !== undefined && !isNoFile(file)) {
    const { openSqlite } = await import('../sqlite/open-sqlite.js')
    return openSqlite(file, { clock, synchronous, create, readOnly })
  }
  if (POSTGRES.test(address)) {
    const { openPostgres } = await import('../postgres/open-postgres.js')
    return openPostgres(address, { create: create && !readOnly, migrate: !readOnly })
  }
  const known = PATH.test(address)
    ? `sqlite:${address}`
    : file === ':memory:'
      ? 'memory:'
      : 'sqlite:PATH, such as sqlite:./tasks.db, postgres://…, or memory:'
  throw new LedgerError('unusable', `There is no ledger at ${JSON.stringify(hidePassword(address))}: say ${known}`)
}

/** A path without `sqlite:` before it. */
const PATH = /^(?=.*[./])[^:?@=\s\0]+$/

const POSTGRES = /^postgres(?:ql)?:\/\//

/** What SQLite would take for something else, or for another file. */
function isNoFile(file: string): boolean {
  return file === ':memory:' || file.startsWith('//') || file.startsWith('file:') || file.includes('\0')
}

function expectAddress(address: unknown): void {
  if (typeof address === 'string') return
  if (isObject(address) && typeof (address as { transact?: unknown }).transact === 'function') return
  throw new TypeError('The first argument of openDurable must be an address, such as sqlite:./tasks.db, or a ledger')
}

/** What was mistyped may hold a password anywhere from the first colon to the last @, and in its parameters. */
function hidePassword(address: string): string {
  const scheme = /^\s*[a-z][\w+.-]*:\/\//i.exec(address)?.[0] ?? ''
  const colon = address.indexOf(':', scheme.length)
  const end = address.lastIndexOf('@')
  const shown = colon !== -1 && colon < end ? `${address.slice(0, colon)}:…${address.slice(end)}` : address
  return shown.replace(/\?.*$/s, '?…').replace(/(\bpass\w*|\bpwd)\s*=.*$/is, '$1=…')
}
