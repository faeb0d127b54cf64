/**
 * `reprise __complete KIND [RUN] [--store URL]`: ids in the store, for completion in shells. A line each: the id, a tab and a
 * description. Imports the library when there is a store.
 *
 * Invariants: it writes nothing to stderr, changes no record in the store and always exits with 0. A store that is missing
 * or cannot be read gives no lines. SQLite may leave an empty `-wal` and a `-shm` beside its file, which the next process
 * removes. A server is waited for at most `LIMIT_MS`; reading SQLite is synchronous and cannot be cut off.
 */
import { existsSync } from 'node:fs'
import { DEFAULT_STORE, fileOf } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import type { ProcessIo } from '../process-io.js'
import { LIVE_KINDS, type LiveKind } from '../live-command.js'

/** A person waits for it with a finger on the key. */
const LIMIT_MS = 1000
/** The newest runs are the ones that are asked for. */
const MOST_IDS = 200

type Candidate = readonly [id: string, text: string]

export async function completeLive(args: readonly string[], io: Pick<ProcessIo, 'stdout' | 'env'>): Promise<void> {
  const { kind, run, store } = requestOf(args, io.env)
  if (kind === undefined) return
  const candidates = await Promise.race([lookedUp(store, kind, run).catch(() => []), nothingAfter(LIMIT_MS)])
  const lines = candidates.filter(([id]) => isPlain(id)).map(([id, text]) => `${id}\t${flat(text)}\n`)
  io.stdout.write(lines.join(''))
}

function requestOf(args: readonly string[], env: ProcessIo['env']): { kind?: LiveKind; run?: string; store: string } {
  const at = args.indexOf('--store')
  const given = at === -1 ? undefined : args[at + 1]
  const [kind, run] = at === -1 ? args : args.slice(0, at)
  const known = LIVE_KINDS.find((one) => one === kind)
  return {
    store: given || env['REPRISE_STORE'] || DEFAULT_STORE,
    ...(known !== undefined && { kind: known }),
    ...(run !== undefined && { run }),
  }
}

/** Does not keep the process alive by itself. */
function nothingAfter(ms: number): Promise<[]> {
  return new Promise((resolve) => setTimeout(() => resolve([]), ms).unref())
}

async function lookedUp(store: string, kind: LiveKind, run: string | undefined): Promise<Candidate[]> {
  const file = fileOf(store)
  if (file !== undefined && !existsSync(file)) return []
  const { openLedger } = await import('reprise/durable')
  const ledger = await openLedger(store, { readOnly: true })
  try {
    return await candidatesIn(ledger, kind, run)
  } finally {
    await ledger.close()
  }
}

async function candidatesIn(ledger: Ledger, kind: LiveKind, run: string | undefined): Promise<Candidate[]> {
  if (kind === 'runs') {
    const runs = await ledger.runs({ limit: MOST_IDS })
    // A map is a part of its run.
    return runs.filter(({ id }) => !id.includes('/')).map(({ id, name, status }) => [id, `${name}, ${status}`])
  }
  if (kind === 'steps') {
    const tasks = run === undefined ? [] : await ledger.list({ scopeKind: 'run', scope: run, limit: MOST_IDS })
    return tasks.map(({ id, status }) => [id, status])
  }
  if (kind === 'tasks') {
    const tasks = await ledger.list({ scopeKind: 'task', limit: MOST_IDS, withInput: false })
    return tasks.map(({ scope, id, status }) => [`${scope}/${id}`, status])
  }
  const { listGates } = await import('reprise/durable')
  const { breakers, budgets } = await listGates(ledger)
  return kind === 'breakers'
    ? breakers.map(({ name, state }) => [name, state.phase])
    : budgets.map(({ name, type }) => [name, type ?? ''])
}

/** A shell would take anything else for something to do, or for the end of the line. */
function isPlain(id: string): boolean {
  return /^[\w.@/+-][\w.@/+:-]*$/.test(id) && !id.startsWith('-')
}

function flat(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ')
}
