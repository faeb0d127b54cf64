/** `reprise store status`, as a page. Imports tables, words and types. */
import { type ConnectionFacts, plainText, type SchemaState, type TableFacts } from 'reprise/internal'
import { byteText, countText } from './figures.js'
import { fitTable } from './fitted-table.js'
import type { Look } from './look.js'
import { coarseDuration, relativeTime } from './relative-time.js'

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
  readonly hints: readonly string[]
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

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export function storeStatusPage(status: StoreStatus, nowMs: number, look: Look): string[] {
  const { address, kind, version, schema, bytes, tables, owners, hints, isReplica } = status
  const { bold, yellow, dim } = look.style
  const states = Object.entries(status.tasks).map(([state, count]) => `${countText(count)} ${state}`)
  const { connections, durability, oldestDueAtMs, deadLetters, stateDirectory } = status
  return [
    bold(plainText(address)),
    `  ${NAMES[kind]} ${plainText(version)}${isReplica ? ', a replica' : ''}, schema ${schema.version} of ${schema.newest}, ${byteText(bytes)}`,
    `  tasks: ${states.length === 0 ? 'none' : states.join(', ')}`,
    ...(oldestDueAtMs === null ? [] : [`  the first of those that wait is due ${relativeTime(oldestDueAtMs, nowMs)}`]),
    `  dead letters: ${countText(deadLetters)}`,
    ...(connections === null
      ? []
      : [`  connections: ${connections.own} of Reprise, ${connections.used} of ${connections.most} in use`]),
    `  durability: ${Object.entries(durability)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
    `  logs of what is run from here: ${plainText(stateDirectory)}`,
    ...(tables.length === 0 ? [] : ['', ...tablesOf(tables, look)]),
    ...(owners.length === 0 ? [] : ['', ...ownersOf(owners, nowMs, look)]),
    ...(hints.length === 0 ? [] : ['', ...hints.map((hint) => `${yellow('hint')}: ${plainText(hint)}`)]),
    ...(tables.length > 0 && kind === 'postgres' ? ['', dim('Rows are estimates of the server.')] : []),
  ]
}

function tablesOf(tables: readonly TableFacts[], look: Look): string[] {
  return fitTable<TableFacts>(
    [
      { title: 'table', cell: ({ name }) => plainText(name) },
      { title: 'rows', align: 'right', cell: ({ rows }) => (rows === null ? '' : countText(rows)) },
      { title: 'size', align: 'right', cell: ({ bytes }) => (bytes === null ? '' : byteText(bytes)) },
    ],
    tables,
    look,
  )
}

function ownersOf(owners: readonly OwnerView[], nowMs: number, look: Look): string[] {
  return fitTable<OwnerView>(
    [
      { title: 'process', cell: ({ pid, host }) => `${pid} on ${plainText(host)}` },
      {
        title: 'state',
        cell: ({ state }) => state,
        paint: ({ state }) => (state === 'alive' ? look.style.green : look.style.red),
      },
      { title: 'is', cell: ({ role, site }) => plainText([role, site].filter((word) => word !== null).join(' at ')) },
      { title: 'version', cell: ({ version }) => plainText(version ?? '') },
      { title: 'runs', align: 'right', cell: loadText },
      { title: 'lease left', align: 'right', cell: ({ leaseLeftMs }) => leaseText(leaseLeftMs) },
      { title: 'since', cell: ({ startedAtMs }) => relativeTime(startedAtMs, nowMs) },
    ],
    owners,
    look,
  )
}

function loadText({ running, slots }: OwnerView): string {
  return running === null || slots === null ? '' : `${running} of ${slots}`
}

function leaseText(ms: number): string {
  return ms === 0 ? 'none' : coarseDuration(ms)
}
