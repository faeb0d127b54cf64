/**
 * A run with a map in which items succeed, recover and fail, killed at random moments in every phase. Imports the kill run
 * and the history checker.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type AttemptRow, scopeOfRun, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { classOf } from '../../packages/reprise/src/ledger/tally.js'
import { faultsOf } from '../crash/history.js'
import { NOTE_START, RandomKillRun, RUN } from '../workflow/random-kill-run.js'

const MAP = `${RUN}/map`
const ITEMS = 24
const ATTEMPTS = 3
const MAX_PARALLEL = 3
const MAX_RETRIES = 8

/**
 * Every fourth item fails at its first attempt, every seventh always. Items take a while, so that a kill finds some of them
 * running.
 */
const WORK = [
  NOTE_START,
  'sleep 0.03',
  'if [ $(( REPRISE_ITEM_INDEX % 7 )) = 0 ]; then exit 9; fi',
  'if [ $(( REPRISE_ITEM_INDEX % 4 )) = 1 ] && [ "$REPRISE_ATTEMPT" = 1 ]; then exit 8; fi',
  'echo "done ${item}"',
].join('\n')

const WORKFLOW = {
  mode: 'mapreduce',
  name: 'killed',
  setup: [{ id: 'setup', shell: `echo setup >> phases; seq 1 ${ITEMS}`, capture: 'numbers', capture_format: 'lines' }],
  map: {
    input: '${numbers}',
    max_parallel: MAX_PARALLEL,
    agent_template: [
      { id: 'prepare', shell: 'true' },
      { id: 'work', shell: WORK, capture: 'text' },
    ],
    on_item_error: [{ shell: 'echo "${item}" >> given-up' }],
  },
  reduce: [{ id: 'reduce', shell: 'echo reduce >> phases; cp "${map.results_file}" reduced' }],
  error_policy: {
    item_retry: { attempts: ATTEMPTS, backoff: 'exponential', initial_delay: '20ms', jitter: 'full' },
    max_retries: MAX_RETRIES,
  },
}

export class KilledMap extends RandomKillRun {
  constructor(seed: number) {
    super(seed, { workflow: WORKFLOW, mostStarts: 9, orderlyShare: 0.25, exitCodes: [3] })
  }

  protected async faultsOf(ledger: Ledger, finished: boolean): Promise<string[]> {
    const tasks = await ledger.list({ ...scopeOfRun(MAP) })
    const rows = await ledger.attemptsOfRun(MAP)
    const starts = this.startsOf(tasks, rows)
    const found = [
      ...(await faultsOf(ledger, scopeOfRun(MAP), starts, { attempts: ATTEMPTS, finished })),
      ...(await tallyFaults(ledger, tasks)),
      ...parallelFaults(rows),
      ...(await retryFaults(ledger, tasks)),
    ]
    // A retry that `max_retries` denies ends an item before its attempts are used up.
    return found.filter((fault) => !fault.endsWith('exhausted too early'))
  }

  /** Every item is in the results once, in order, as the ledger has it; phases before and after ran once or were cut. */
  protected async faultsAtEnd(): Promise<string[]> {
    const faults: string[] = []
    const lines = this.cli.read('reduced').split('\n').filter(Boolean)
    const reduced = lines.map((line) => JSON.parse(line) as { index: number; state: string; result: string | null })
    const indexes = reduced.map(({ index }) => index)
    if (JSON.stringify(indexes) !== JSON.stringify(Array.from({ length: ITEMS }, (_, index) => index)))
      faults.push(`reduce saw the items ${indexes.join()}`)
    const tasks = (await this.look((ledger) => ledger.list({ ...scopeOfRun(MAP) }))) ?? []
    for (const [place, { status, result }] of tasks.entries()) {
      const line = reduced[place]
      const isSame =
        (line?.state === 'succeeded') === (status === 'succeeded') && (line?.result ?? null) === (result ?? null)
      if (!isSame) faults.push(`item ${place} is ${status}, and reduce saw ${JSON.stringify(line)}`)
      if (status === 'succeeded' && result !== `done ${place + 1}`) faults.push(`item ${place} gave ${String(result)}`)
    }
    const dead = tasks.filter(({ status }) => status === 'failed').length
    const givenUp = new Set(this.cli.read('given-up').split('\n').filter(Boolean))
    if (givenUp.size !== dead) faults.push(`${dead} items failed, and on_item_error ran for ${givenUp.size}`)
    return faults
  }
}

/** The tally adds up to the items, class by class. */
async function tallyFaults(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<string[]> {
  const counted: Record<string, number> = {}
  for (const task of tasks) counted[classOf(task)] = (counted[classOf(task)] ?? 0) + 1
  const tally = (await ledger.tally(`${MAP}/items`)) as unknown as Record<string, number>
  const names = ['fresh', 'retrying', 'undecided', 'succeeded', 'failed', 'cancelled']
  const wrong = names.filter((name) => (tally[name] ?? 0) !== (counted[name] ?? 0))
  return wrong.map((name) => `the tally says ${tally[name]} ${name}, and ${counted[name] ?? 0} items are`)
}

/** By the ledger's time never more than `max_parallel` attempts at once; one that was lost counts until it is taken over. */
function parallelFaults(rows: readonly AttemptRow[]): string[] {
  const moments = rows.flatMap(({ startedAtMs, endedAtMs }) => [
    { atMs: startedAtMs, by: 1 },
    { atMs: endedAtMs, by: -1 },
  ])
  // At one moment ends come first: the place is free in the commit that ends an attempt.
  moments.sort((a, b) => a.atMs - b.atMs || a.by - b.by)
  let [running, most] = [0, 0]
  for (const { by } of moments) most = Math.max(most, (running += by))
  return most > MAX_PARALLEL ? [`${most} items ran at once, and max_parallel is ${MAX_PARALLEL}`] : []
}

/** I4: charged are the retries that were decided, and no more than there are. */
async function retryFaults(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<string[]> {
  const decided = tasks.reduce((sum, { progress }) => sum + (progress.allotted ?? 0), 0)
  const gate = (await ledger.gates()).find(({ key }) => key === `budget:max_retries@${MAP}`)
  const { used = 0 } = (gate?.state ?? {}) as { readonly used?: number }
  return used === decided && used <= MAX_RETRIES ? [] : [`${decided} retries were decided, and ${used} are charged`]
}
