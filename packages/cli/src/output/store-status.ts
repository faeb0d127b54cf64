/** `reprise store status`, as a page. Imports tables, words and types. */
import { byteText, countText, type OwnerView, type StoreStatus } from '@reprise/workflow/internal'
import { plainText, type TableFacts } from 'reprise/internal'
import { fitTable } from './fitted-table.js'
import type { Display } from './display.js'
import { coarseDuration, relativeTime } from './relative-time.js'

/** With the hints in words. */
type ShownStatus = StoreStatus & { readonly hints: readonly string[] }

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export function storeStatusPage(status: ShownStatus, nowMs: number, display: Display): string[] {
  const { address, kind, version, schema, bytes, tables, owners, hints, isReplica } = status
  const { bold, yellow, dim } = display.style
  const states = Object.entries(status.tasks).map(([state, count]) => `${countText(count)} ${state}`)
  const { connections, durability, oldestDueAtMs, deadLetters, stateDirectory } = status
  return [
    bold(plainText(address)),
    `  ${NAMES[kind]} ${plainText(version)}${isReplica ? ', a replica' : ''}, schema ${schema.version} of ${schema.newest}, ${byteText(bytes)}`,
    `  tasks: ${states.length === 0 ? 'none' : states.join(', ')}`,
    ...(oldestDueAtMs === null ? [] : [`  first waiting task: due ${relativeTime(oldestDueAtMs, nowMs)}`]),
    `  dead letters: ${countText(deadLetters)}`,
    ...(connections === null
      ? []
      : [`  connections: ${connections.own} of Reprise, ${connections.used} of ${connections.most} in use`]),
    `  durability: ${Object.entries(durability)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
    `  logs of what is run from here: ${plainText(stateDirectory)}`,
    ...(tables.length === 0 ? [] : ['', ...tablesOf(tables, display)]),
    ...(owners.length === 0 ? [] : ['', ...ownersOf(owners, nowMs, display)]),
    ...(hints.length === 0 ? [] : ['', ...hints.map((hint) => `${yellow('hint')}: ${plainText(hint)}`)]),
    ...(tables.length > 0 && kind === 'postgres' ? ['', dim('Rows are estimates of the server.')] : []),
  ]
}

function tablesOf(tables: readonly TableFacts[], display: Display): string[] {
  return fitTable<TableFacts>(
    [
      { title: 'table', cell: ({ name }) => plainText(name) },
      { title: 'rows', align: 'right', cell: ({ rows }) => (rows === null ? '' : countText(rows)) },
      { title: 'size', align: 'right', cell: ({ bytes }) => (bytes === null ? '' : byteText(bytes)) },
    ],
    tables,
    display,
  )
}

function ownersOf(owners: readonly OwnerView[], nowMs: number, display: Display): string[] {
  return fitTable<OwnerView>(
    [
      { title: 'process', cell: ({ pid, host }) => `${pid} on ${plainText(host)}` },
      {
        title: 'state',
        cell: ({ state }) => state,
        paint: ({ state }) => (state === 'alive' ? display.style.green : display.style.red),
      },
      {
        title: 'role',
        cell: ({ role, site }) => plainText([role, site].filter((word) => word !== null).join(' at ')),
        least: 10,
      },
      { title: 'version', cell: ({ version }) => plainText(version ?? ''), least: 7, expendable: 2 },
      // Not `runs`, which are of workflows.
      { title: 'attempts', align: 'right', cell: loadText },
      { title: 'lease left', align: 'right', cell: ({ leaseLeftMs }) => leaseText(leaseLeftMs) },
      { title: 'since', cell: ({ startedAtMs }) => relativeTime(startedAtMs, nowMs), expendable: 1 },
    ],
    owners,
    display,
  )
}

function loadText({ running, slots }: OwnerView): string {
  return running === null || slots === null ? '' : `${running} of ${slots}`
}

function leaseText(ms: number): string {
  return ms === 0 ? 'none' : coarseDuration(ms)
}
