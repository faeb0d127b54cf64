/** `reprise store status`: a store as it is, also where it cannot be used. Imports the library and output. */
import type { OwnerRecord } from 'reprise/durable'
import { livingOwners, type StoreFacts } from 'reprise/internal'
import type { CommandModule } from '../command.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { type CommandWords, commandWords } from '../output/next-commands.js'
import { type OwnerView, storeStatusPage, type StoreStatus } from '../output/store-status.js'
import { type LeftBehind, leftBehind } from '../runs/left-behind.js'
import { factsOf, nameOf } from '../runs/store-care.js'
import { expectFound, ifKept, stateDirectoryOf } from '../runs/store.js'
import { writePage } from '../output/github-commands.js'

type Found = Omit<StoreStatus, 'hints'>

export const showStatus: CommandModule = {
  async run(_given, context) {
    const { world, settings } = context
    const { store } = settings
    const command = commandWords(settings, world.env)
    const facts = await expectFound(store, () => factsOf(store))
    const found = await statusOf(facts, nameOf(store), stateDirectoryOf(store))
    // Whoever opens an older one would bring it up to date.
    const isUsable = facts.content !== undefined && facts.schema.version === facts.schema.newest && !facts.isReplica
    const left = isUsable ? await ifKept(context, leftBehind) : undefined
    const shown = {
      ...found,
      hints: [...hintsOf(found, command), ...(left === undefined ? [] : hintsOfLeft(left, command))],
    }
    if (settings.json) return writeJson(world.stdout, shown)
    const lines = storeStatusPage(shown, facts.content?.nowMs ?? Date.now(), lookFor(world, settings))
    writePage(world, `${lines.join('\n')}\n`)
  },
}

async function statusOf(facts: StoreFacts, address: string, stateDirectory: string): Promise<Found> {
  const { kind, version, schema, bytes, tables, content, connections, isReplica, durability } = facts
  const owners = content === undefined ? [] : await ownersOf(facts, content.owners, content.nowMs)
  const counted = {
    tasks: content?.tasks ?? {},
    oldestDueAtMs: content?.oldestDueAtMs ?? null,
    deadLetters: content?.deadLetters ?? 0,
  }
  const rest = { connections, isReplica, durability, stateDirectory }
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

function hintsOf({ schema, isReplica, durability, connections }: Found, command: CommandWords): string[] {
  const hints: readonly (readonly [boolean, string])[] = [
    [
      schema.version < schema.newest,
      `schema ${schema.version} of ${schema.newest}: run ${command(['store', 'migrate'])}; the next run does it too, if its user may`,
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
  ]
  return given(hints)
}

function hintsOfLeft({ lostHolders, hasRuns, overdue }: LeftBehind, command: CommandWords): string[] {
  const interrupted = command(['ps', '--state', 'interrupted'])
  const gone = lostHolders === 1 ? '1 process ended while it held' : `${lostHolders} processes ended while they held`
  const { inStoppedRun, isRetry, untried } = overdue
  return given([
    [lostHolders > 0 && hasRuns, `${gone} runs or tasks: ${interrupted}`],
    [lostHolders > 0 && !hasRuns, `${gone} tasks of a program: start that program again, and it takes them over`],
    [inStoppedRun, `steps have been due for more than a minute, in runs that no process executes: ${interrupted}`],
    [isRetry, `retries have been due for more than a minute: ${command(['ps', '--retrying'])}`],
    [
      untried !== undefined,
      `${untried?.id} of queue ${untried?.queue} has been due for more than a minute: start the program that executes this queue`,
    ],
  ])
}

function given(hints: readonly (readonly [isSo: boolean, hint: string])[]): string[] {
  return hints.flatMap(([isSo, hint]) => (isSo ? [hint] : []))
}
