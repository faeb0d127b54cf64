/**
 * One run with a map that has a bit of everything, killed or asked to stop at moments that a seed says, in every phase, and
 * resumed until it has ended. After each kill the ledger is compared with what really ran. Imports the command-line
 * fixture and the history checker.
 *
 * Every start notes its item, its attempt and the process (the *life*) that it belongs to.
 */
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type AttemptRow, scopeOfRun, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { classOf } from '../../packages/reprise/src/ledger/tally.js'
import { faultsOf, type Start } from '../crash/history.js'
import { type Going, Scene, until } from '../workflow/scene.js'

const RUN = 'r1'
const MAP = `${RUN}/map`
const ITEMS = 24
const ATTEMPTS = 3
const MAX_PARALLEL = 3
const MAX_RETRIES = 8

/**
 * Notes the start before anything else. Every fourth item fails at its first attempt, every seventh always. A gate by
 * time: items take a while, so that a kill finds some of them running.
 */
const WORK = [
  'echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT $LIFE $(date +%s%3N)" >> starts',
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

interface Life {
  readonly fromMs: number
}

export interface KilledRun {
  readonly kills: number
  readonly starts: number
  /** Starts beyond the first of an attempt. */
  readonly again: number
  readonly faults: readonly string[]
}

export class RandomKillRun {
  private readonly scene = new Scene()
  private readonly random: () => number
  private readonly lives: Life[] = []
  private readonly faults: string[] = []
  private kills = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.scene.write('workflow.json', JSON.stringify(WORKFLOW))
  }

  async play(mostKills: number): Promise<KilledRun> {
    try {
      let isEnded = false
      while (this.kills < mostKills && !isEnded) isEnded = await this.liveAndDie()
      for (let lives = 0; lives < 4 && !(await this.hasEnded()); lives++) {
        const { code, stderr } = await (await this.live()).ended
        if (code !== 3) this.faults.push(`ended with ${code}: ${stderr}`)
      }
      await this.check(true)
      await this.scene.isClean()
      await this.compareEnd()
      const starts = this.notes()
      const attempts = new Set(starts.map(({ task, attempt }) => `${task} ${attempt}`))
      return { kills: this.kills, starts: starts.length, again: starts.length - attempts.size, faults: this.faults }
    } finally {
      this.scene.remove()
    }
  }

  private async liveAndDie(): Promise<boolean> {
    const going = await this.live()
    await this.someTime(going)
    if (going.child.exitCode === null) this.kills++
    going.child.kill(this.random() < 0.25 ? 'SIGTERM' : 'SIGKILL')
    await going.ended
    // Sometimes the next process comes while the keeper still ends what was left.
    if (this.random() < 0.5) await this.scene.isClean()
    return this.check(false)
  }

  private async live(): Promise<Going> {
    const isKnown = (this.scene.env['REPRISE_STORE'] ?? '') !== '' || this.scene.has('.reprise/ledger.db')
    const isRecorded = isKnown && (await this.look(async (ledger) => (await ledger.run(RUN)) !== undefined))
    this.scene.env['LIFE'] = String(this.lives.length)
    this.lives.push({ fromMs: Date.now() })
    return isRecorded ? this.scene.start('resume', RUN) : this.scene.start('run', 'workflow.json', '--run-id', RUN)
  }

  private async look<T>(how: (ledger: Ledger) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.scene.ledger(how)
    } catch {
      // Killed before the store was made.
      return undefined
    }
  }

  private async hasEnded(): Promise<boolean> {
    return (await this.look(async (ledger) => ((await ledger.run(RUN))?.endedAtMs ?? null) !== null)) ?? false
  }

  /** A few starts and a bit, or simply a while: then it may not even have begun. */
  private async someTime(going: Going): Promise<void> {
    const before = this.notes().length
    const starts = Math.floor(this.random() * 9)
    const pauseMs = this.random() * (starts === 0 ? 600 : 100)
    await until(
      () => going.child.exitCode !== null || this.notes().length >= before + starts,
      () => `${starts} starts; it said ${going.said()}`,
    )
    await Promise.race([going.ended, new Promise((resolve) => setTimeout(resolve, pauseMs))])
  }

  private notes(): { task: string; attempt: number; life: number; atMs: number }[] {
    const lines = this.scene.read('starts').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [task = '', attempt, life, atMs] = line.split(' ')
      return { task, attempt: Number(attempt), life: Number(life), atMs: Number(atMs) }
    })
  }

  /** Whether the run has ended; what is wrong is kept, with the kill after which it was found. */
  private async check(finished: boolean): Promise<boolean> {
    const isEnded = await this.look(async (ledger) => {
      const run = await ledger.run(RUN)
      if (run === undefined) return false
      const tasks = await ledger.list({ ...scopeOfRun(MAP) })
      const rows = await ledger.attemptsOfRun(MAP)
      const starts = await this.startsOf(tasks, rows)
      const found = [
        ...(await faultsOf(ledger, scopeOfRun(MAP), starts, { attempts: ATTEMPTS, finished })),
        ...(await tallyFaults(ledger, tasks)),
        ...parallelFaults(rows),
        ...(await retryFaults(ledger, tasks)),
      ]
      // A retry that `max_retries` denies ends an item before its attempts are used up.
      const own = found.filter((fault) => !fault.endsWith('exhausted too early'))
      this.faults.push(...own.map((fault) => `after ${this.kills} kills: ${fault}`))
      return run.endedAtMs !== null
    })
    return isEnded ?? false
  }

  private async startsOf(tasks: readonly TaskRecord[], rows: readonly AttemptRow[]): Promise<Start[]> {
    const known = new Map<string, number>()
    for (const { id, attempt, execution, startedAtMs } of rows)
      known.set(`${id} ${attempt} ${this.lifeAt(startedAtMs)}`, execution)
    for (const { id, progress } of tasks)
      if (progress.current !== null)
        known.set(
          `${id} ${progress.current.attempt} ${this.lifeAt(progress.current.startedAtMs)}`,
          progress.current.execution,
        )
    // A start that no row is known of gets an execution that no attempt has, and is a fault.
    return this.notes().map(({ task, attempt, life, atMs }) => {
      return { task, attempt, execution: known.get(`${task} ${attempt} ${life}`) ?? 0, atMs }
    })
  }

  private lifeAt(atMs: number): number {
    return this.lives.findLastIndex(({ fromMs }) => fromMs <= atMs)
  }

  /** Every item is in the results once, in order, as the ledger has it; phases before and after ran once or were cut. */
  private async compareEnd(): Promise<void> {
    const lines = this.scene.read('reduced').split('\n').filter(Boolean)
    const reduced = lines.map((line) => JSON.parse(line) as { index: number; state: string; result: string | null })
    const indexes = reduced.map(({ index }) => index)
    if (JSON.stringify(indexes) !== JSON.stringify(Array.from({ length: ITEMS }, (_, index) => index)))
      this.faults.push(`reduce saw the items ${indexes.join()}`)
    const tasks = (await this.look((ledger) => ledger.list({ ...scopeOfRun(MAP) }))) ?? []
    for (const [place, { status, result }] of tasks.entries()) {
      const line = reduced[place]
      const isSame =
        (line?.state === 'succeeded') === (status === 'succeeded') && (line?.result ?? null) === (result ?? null)
      if (!isSame) this.faults.push(`item ${place} is ${status}, and reduce saw ${JSON.stringify(line)}`)
      if (status === 'succeeded' && result !== `done ${place + 1}`)
        this.faults.push(`item ${place} gave ${String(result)}`)
    }
    const dead = tasks.filter(({ status }) => status === 'failed').length
    const givenUp = new Set(this.scene.read('given-up').split('\n').filter(Boolean))
    if (givenUp.size !== dead) this.faults.push(`${dead} items failed, and on_item_error ran for ${givenUp.size}`)
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
