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
import { environmentOf, type ExecutorOptions, executorProblems } from '../runtime/executor-options.js'

type Shared = Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'observers' | 'clock' | 'random'>

export interface DurableOptions extends Shared {
  /** Attempts that run at a time in this process. Default: 50. */
  readonly concurrency?: number
  /** How long a process that says nothing is believed to live; renewed at a third of it. 100ms to 1d. Default: 30s. */
  readonly lease?: DurationInput
  /** What to do with tasks whose policy is not this program's: leave them, or take the new policy and keep the counts. */
  readonly policyChange?: 'refuse' | 'accept'
  /** Settings of breakers by key, in place of what the policies that name the key say. */
  readonly breakers?: Readonly<Record<string, BreakerInput>>
  /** How long what is over is kept; for ever when absent. */
  readonly retention?: RetentionInput
  /** What this process says of itself: shown by `reprise store status`, and to other processes as `others`. */
  readonly identity?: OwnerIdentity
  /** Told when the ledger fails while nobody waits for anything; an unhandled rejection when absent. */
  readonly onFailure?: (error: unknown) => void
  /** SQLite: `normal` is faster, and loses the last commits when the power fails. */
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

/** `sqlite:PATH`, `postgres://…` or `memory:`; or a ledger that is open already, which is closed with the rest. */
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
    ...executorProblems(shared),
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

export interface LedgerOptions extends Pick<DurableOptions, 'clock' | 'synchronous'> {
  /** Whether a ledger that is not there is made. Default: true. */
  readonly create?: boolean
  /** Opens it to read: nothing is made or brought up to date, and a schema of another version is refused. Default: false. */
  readonly readOnly?: boolean
}

/** The ledger alone: to look at what is there without being one of those who work. */
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
  const known = file === ':memory:' ? 'memory:' : 'sqlite:PATH, such as sqlite:./tasks.db, postgres://…, or memory:'
  throw new LedgerError('unusable', `There is no ledger at ${JSON.stringify(hidePassword(address))}: say ${known}`)
}

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
