/**
 * What must be true of a map beside the history of each item: its tally, how many ran at once, what was charged, how many
 * started in a time. Imports the ledger's types.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { AttemptRow, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { classOf } from '../../packages/reprise/src/ledger/tally.js'

/** The tally adds up to the items, class by class. */
export async function tallyFaults(ledger: Ledger, map: string, tasks: readonly TaskRecord[]): Promise<string[]> {
  const counted: Record<string, number> = {}
  for (const task of tasks) counted[classOf(task)] = (counted[classOf(task)] ?? 0) + 1
  const tally = (await ledger.tally(`${map}/items`)) as unknown as Record<string, number>
  const names = ['fresh', 'retrying', 'undecided', 'succeeded', 'failed', 'cancelled']
  const wrong = names.filter((name) => (tally[name] ?? 0) !== (counted[name] ?? 0))
  return wrong.map((name) => `the tally says ${tally[name]} ${name}, and ${counted[name] ?? 0} items are`)
}

/** By the ledger's time, how many attempts there were at once; one that was lost counts until it is taken over. */
export function mostAtOnce(rows: readonly Pick<AttemptRow, 'startedAtMs' | 'endedAtMs'>[]): number {
  const moments = rows.flatMap(({ startedAtMs, endedAtMs }) => [
    { atMs: startedAtMs, by: 1 },
    { atMs: endedAtMs, by: -1 },
  ])
  // At one moment ends come first: the place is free in the commit that ends an attempt.
  moments.sort((a, b) => a.atMs - b.atMs || a.by - b.by)
  let [running, most] = [0, 0]
  for (const { by } of moments) most = Math.max(most, (running += by))
  return most
}

export function parallelFaults(rows: readonly AttemptRow[], maxParallel: number): string[] {
  const most = mostAtOnce(rows)
  return most > maxParallel ? [`${most} items ran at once, and max_parallel is ${maxParallel}`] : []
}

/** I4: charged are the retries that were decided, and no more than there are. */
export async function retryFaults(
  ledger: Ledger,
  map: string,
  tasks: readonly TaskRecord[],
  maxRetries: number,
): Promise<string[]> {
  const decided = tasks.reduce((sum, { progress }) => sum + (progress.allotted ?? 0), 0)
  const gate = (await ledger.gates()).find(({ key }) => key === `budget:max_retries@${map}`)
  const { used = 0 } = (gate?.state ?? {}) as { readonly used?: number }
  return used === decided && used <= maxRetries ? [] : [`${decided} retries were decided, and ${used} are charged`]
}

/** A process reads the time at most once in a turn of its event loop, and a turn may be as long as a sync of the disk. */
const RATE_TOLERANCE_SECONDS = 0.05

/** In any time of `t` seconds at most `burst + t × perSecond` attempts start, over all processes. */
export function rateFaults(
  rows: readonly Pick<AttemptRow, 'startedAtMs'>[],
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
): string[] {
  const starts = rows.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b)
  for (const [from, firstMs] of starts.entries())
    for (let to = from; to < starts.length; to++) {
      const seconds = ((starts[to] as number) - firstMs) / 1000
      const started = to - from + 1
      if (started > burst + (seconds + RATE_TOLERANCE_SECONDS) * perSecond + 0.01)
        return [`${started} items began within ${seconds} s, and the rate is ${perSecond}/s`]
    }
  return []
}
