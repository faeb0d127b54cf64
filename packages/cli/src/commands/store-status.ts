/** `reprise store status`: a store as it is, also where it cannot be used. Imports the library and output. */
import { livingOwners, type OwnerRecord, type StoreFacts } from 'reprise/durable'
import type { CommandModule } from '../command.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { type OwnerView, storeStatusPage, type StoreStatus } from '../output/store-status.js'
import { factsOf, nameOf } from '../runs/store-care.js'
import { expectFound, stateDirectoryOf } from '../runs/store.js'

export const showStatus: CommandModule = {
  async run(_given, { world, settings }) {
    const { store } = settings
    const facts = await expectFound(store, () => factsOf(store))
    const shown = await statusOf(facts, nameOf(store), stateDirectoryOf(store))
    if (settings.json) return writeJson(world.stdout, shown)
    const lines = storeStatusPage(shown, facts.content?.nowMs ?? Date.now(), lookFor(world, settings))
    world.stdout.write(`${lines.join('\n')}\n`)
  },
}

async function statusOf(facts: StoreFacts, address: string, stateDirectory: string): Promise<StoreStatus> {
  const { kind, version, schema, bytes, tables, content, connections, isReplica, durability } = facts
  const owners = content === undefined ? [] : await ownersOf(facts, content.owners, content.nowMs)
  const counted = {
    tasks: content?.tasks ?? {},
    oldestDueAtMs: content?.oldestDueAtMs ?? null,
    deadLetters: content?.deadLetters ?? 0,
  }
  const rest = { connections, isReplica, durability, stateDirectory }
  const found = { address, kind, version, schema, bytes, tables, ...counted, owners, ...rest }
  return { ...found, hints: hintsOf(found, content?.nowMs ?? 0) }
}

async function ownersOf({ kind }: StoreFacts, owners: readonly OwnerRecord[], nowMs: number): Promise<OwnerView[]> {
  const spans = kind === 'postgres' ? ('network' as const) : ('machine' as const)
  const living = await livingOwners({ spans, owners: async () => owners, leaseNow: async () => nowMs })
  return owners.map(({ id, host, pid, startedAtMs, leaseUntilMs }) => ({
    host,
    pid,
    startedAtMs,
    state: living.has(id) ? 'alive' : 'lost',
    leaseLeftMs: Math.max(0, leaseUntilMs - nowMs),
  }))
}

/** Due for so long, and nobody has taken it. */
const OVERDUE_MS = 60_000

function hintsOf(status: Omit<StoreStatus, 'hints'>, nowMs: number): string[] {
  const { schema, isReplica, durability, connections, owners, oldestDueAtMs } = status
  const lost = owners.filter(({ state }) => state === 'lost').length
  const hints: readonly (readonly [boolean, string])[] = [
    [
      schema.version < schema.newest,
      `schema ${schema.version} of ${schema.newest}: run reprise store migrate; the next run does it too, if its user may`,
    ],
    [schema.version > schema.newest, `schema ${schema.version}, and this program knows ${schema.newest}: update it`],
    [isReplica, 'it is a replica, which cannot be used: name the primary'],
    [durability['fsync'] === 'off', 'fsync is off: if the machine fails, all of it may be lost or damaged'],
    [durability['full_page_writes'] === 'off', 'full_page_writes is off: if the machine fails, it may be damaged'],
    [
      durability['synchronous_commit'] === 'off',
      'synchronous_commit is off: if the server fails, the last commits are lost, and attempts that had ended run again',
    ],
    [
      connections !== null && connections.used > 0.8 * connections.most,
      'few connections are left: raise max_connections, or give addresses a smaller connections=N',
    ],
    [lost > 0, `${lost === 1 ? 'a process is' : `${lost} processes are`} gone: reprise ps --state interrupted`],
    [
      oldestDueAtMs !== null && nowMs - oldestDueAtMs > OVERDUE_MS,
      'what is due has waited for more than a minute: does anybody conduct it? reprise ps --retrying',
    ],
  ]
  return hints.flatMap(([isSo, hint]) => (isSo ? [hint] : []))
}
