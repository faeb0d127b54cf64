/** A store as it is, also where it cannot be used, and what is worth a hint. Imports the library and its own layer. */
import type { OwnerRecord } from 'reprise/durable'
import {
  type ConnectionFacts,
  livingOwners,
  type SchemaState,
  type StoreFacts,
  type TableFacts,
} from 'reprise/internal'
import { expectContent } from '../run/lost-content.js'
import { type LeftBehind, leftBehind } from './left-behind.js'
import { storeWithoutPassword } from './store-address.js'
import { factsOf } from './store-care.js'
import { expectFound, ifKept, stateDirectoryOf } from './store.js'

export interface StoreStatus {
  readonly address: string
  readonly kind: 'sqlite' | 'postgres'
  readonly version: string
  readonly schema: SchemaState
  readonly bytes: number
  readonly tables: readonly TableFacts[]
  readonly tasks: Readonly<Record<string, number>>
  readonly oldestDueAtMs: number | null
  readonly deadLetters: number
  readonly owners: readonly OwnerView[]
  readonly connections: ConnectionFacts | null
  readonly isReplica: boolean
  readonly durability: Readonly<Record<string, string>>
  /** Where the logs of what is run from here are. */
  readonly stateDirectory: string
}

export interface OwnerView {
  readonly host: string
  readonly pid: number
  readonly startedAtMs: number
  readonly state: 'alive' | 'lost'
  readonly leaseLeftMs: number
  /** What it says of itself; null where it does not. */
  readonly role: string | null
  readonly site: string | null
  readonly version: string | null
  readonly slots: number | null
  readonly running: number | null
}

export type StoreHint =
  | { readonly code: 'older_schema' | 'newer_schema' | 'replica' | 'few_connections' }
  | { readonly code: 'fsync_off' | 'full_page_writes_off' | 'synchronous_commit_off' }
  /** Processes that ended while they held something; `hasRuns`: runs are among it, which a resume goes on with. */
  | { readonly code: 'lost_holders'; readonly count: number; readonly hasRuns: boolean }
  | { readonly code: 'overdue_in_stopped_run' | 'overdue_retry' }
  | { readonly code: 'overdue_task'; readonly id: string; readonly queue: string }

interface StoreReport {
  readonly status: StoreStatus
  readonly hints: readonly StoreHint[]
  /** By the clock of the store. */
  readonly nowMs: number
}

/** Refused if there is no store. */
export async function storeReport(store: string): Promise<StoreReport> {
  const facts = await expectFound(store, () => factsOf(store))
  await expectContent(store, stateDirectoryOf(store))
  const status = await statusOf(facts, store)
  // Opening an older one would bring it up to date.
  const isUsable = facts.content !== undefined && facts.schema.version === facts.schema.newest && !facts.isReplica
  const left = isUsable ? await ifKept(store, leftBehind) : undefined
  const hints = [...hintsOf(status), ...(left === undefined ? [] : hintsOfLeft(left))]
  return { status, hints, nowMs: facts.content?.nowMs ?? Date.now() }
}

async function statusOf(facts: StoreFacts, store: string): Promise<StoreStatus> {
  const { kind, version, schema, bytes, tables, content, connections, isReplica, durability } = facts
  const owners = content === undefined ? [] : await ownersOf(facts, content.owners, content.nowMs)
  const counted = {
    tasks: content?.tasks ?? {},
    oldestDueAtMs: content?.oldestDueAtMs ?? null,
    deadLetters: content?.deadLetters ?? 0,
  }
  const rest = { connections, isReplica, durability, stateDirectory: stateDirectoryOf(store) }
  const address = storeWithoutPassword(store)
  return { address, kind, version, schema, bytes, tables, ...counted, owners, ...rest }
}

async function ownersOf({ kind }: StoreFacts, owners: readonly OwnerRecord[], nowMs: number): Promise<OwnerView[]> {
  const spans = kind === 'postgres' ? ('network' as const) : ('machine' as const)
  const living = await livingOwners({ spans, owners: async () => owners, leaseNow: async () => nowMs })
  return owners.map(({ id, host, pid, startedAtMs, leaseUntilMs, ...about }) => ({
    host,
    pid,
    startedAtMs,
    state: living.has(id) ? 'alive' : 'lost',
    leaseLeftMs: Math.max(0, leaseUntilMs - nowMs),
    role: about.role ?? null,
    site: about.site ?? null,
    version: about.version ?? null,
    slots: about.slots ?? null,
    running: about.running ?? null,
  }))
}

function hintsOf({ schema, isReplica, durability, connections }: StoreStatus): StoreHint[] {
  return given([
    [schema.version < schema.newest, { code: 'older_schema' }],
    [schema.version > schema.newest, { code: 'newer_schema' }],
    [isReplica, { code: 'replica' }],
    [durability['fsync'] === 'off', { code: 'fsync_off' }],
    [durability['full_page_writes'] === 'off', { code: 'full_page_writes_off' }],
    [durability['synchronous_commit'] === 'off', { code: 'synchronous_commit_off' }],
    [connections !== null && connections.used > 0.8 * connections.most, { code: 'few_connections' }],
  ])
}

function hintsOfLeft({ lostHolders, hasRuns, overdue }: LeftBehind): StoreHint[] {
  const { inStoppedRun, isRetry, untried } = overdue
  return [
    ...given([
      [lostHolders > 0, { code: 'lost_holders', count: lostHolders, hasRuns }],
      [inStoppedRun, { code: 'overdue_in_stopped_run' }],
      [isRetry, { code: 'overdue_retry' }],
    ]),
    ...(untried === undefined ? [] : [{ code: 'overdue_task', ...untried } as const]),
  ]
}

function given(hints: readonly (readonly [isSo: boolean, hint: StoreHint])[]): StoreHint[] {
  return hints.flatMap(([isSo, hint]) => (isSo ? [hint] : []))
}
