/**
 * A run with a map in which items succeed, recover and fail, killed at random moments in every phase. Imports the kill run
 * and the history checker.
 */
import { holdsPlace } from '../../packages/reprise/src/ledger/claim-places.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { scopeOfRun, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { faultsOf } from '../crash/history.js'
import { NOTE_START, RandomKillRun, RUN } from '../workflow/random-kill-run.js'
import { parallelFaults, retryFaults, tallyFaults } from './map-checks.js'

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

/** The same for the items of a batch. One of them ends the program at its first attempt. */
const WORK_ON_ALL = [
  `items=$(sed -n 's/.*"key":"\\([0-9]*\\)","index":\\([0-9]*\\).*"attempt":\\([0-9]*\\).*/\\1:\\2:\\3/p' "$REPRISE_ITEMS_FILE")`,
  'for one in $items; do IFS=: read -r key index attempt <<< "$one"',
  'echo "$(printf %07d "$index").$key $attempt $CONDUCTOR $(date +%s%3N)" >> starts; done',
  'sleep 0.03',
  'for one in $items; do IFS=: read -r key index attempt <<< "$one"',
  'if [ "$index" = 10 ] && [ "$attempt" = 1 ]; then exit 8; fi',
  'if [ $(( index % 7 )) = 0 ] || { [ $(( index % 4 )) = 1 ] && [ "$attempt" = 1 ]; }; then',
  'echo "{\\"key\\":\\"$key\\",\\"error\\":\\"no\\"}" >> "$REPRISE_RESULTS"; else',
  'echo "{\\"key\\":\\"$key\\",\\"result\\":\\"done $key\\"}" >> "$REPRISE_RESULTS"; fi; done',
].join('\n')

const BATCH = 4

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

const WITH_BATCHES = {
  ...WORKFLOW,
  map: { ...WORKFLOW.map, batch: BATCH, agent_template: [{ id: 'work', shell: WORK_ON_ALL }] },
}

export class KilledMap extends RandomKillRun {
  private readonly hasBatches: boolean

  constructor(seed: number, hasBatches = false) {
    const workflow = hasBatches ? WITH_BATCHES : WORKFLOW
    super(seed, { workflow, mostStarts: 9, orderlyShare: 0.25, exitCodes: [3] })
    this.hasBatches = hasBatches
  }

  protected async faultsOf(ledger: Ledger, finished: boolean): Promise<string[]> {
    const tasks = await ledger.list({ ...scopeOfRun(MAP) })
    const rows = await ledger.attemptsOfRun(MAP)
    const starts = this.startsOf(tasks, rows)
    const found = [
      ...(await faultsOf(ledger, scopeOfRun(MAP), starts, { attempts: ATTEMPTS, finished })),
      ...(await tallyFaults(ledger, MAP, tasks)),
      ...(this.hasBatches ? placeFaults(tasks) : parallelFaults(rows, MAX_PARALLEL)),
      ...(await retryFaults(ledger, MAP, tasks, MAX_RETRIES)),
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

/** Batches and single items that have a place, as the records say. */
function placeFaults(tasks: readonly TaskRecord[]): string[] {
  const placed = tasks.filter((task) => task.owner !== null && holdsPlace(task)).length
  return placed > MAX_PARALLEL ? [`${placed} batches run, and max_parallel is ${MAX_PARALLEL}`] : []
}
