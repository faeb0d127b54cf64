/**
 * One run of a workflow that has a bit of everything, killed or asked to stop again and again at moments that a seed says,
 * and taken up again until it has ended. After each kill the ledger is held against what really ran. Imports the scene and the history
 * checker.
 *
 * Every start notes its step, its attempt and the life (the process of ours) it belongs to. Lives follow each other, so a
 * life and an attempt are one execution: that of the row that began in that life.
 */
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { scopeOfRun } from '../../packages/reprise/src/ledger/records.js'
import { faultsOf, type Start } from '../crash/history.js'
import { type Going, Scene, until } from './scene.js'

const ATTEMPTS = 4
const TOTAL = 2

/** Notes the start before anything else, and succeeds from the given attempt on; 99: never. */
const shell = (good: number, rest = 'true'): string =>
  `echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT $LIFE $(date +%s%3N)" >> starts; sleep 0.03; test "$REPRISE_ATTEMPT" -ge ${good}; ${rest}`

const STEPS = [
  { id: 'first', shell: shell(1, `echo '{"n": 41}'`), capture: 'data', capture_format: 'json' },
  { id: 'flaky', shell: shell(3, 'echo "${data.n}" >> seen'), capture: 'text' },
  { id: 'hopeless', shell: shell(99), retry: { on_failure: 'continue' } },
  { id: 'replaced', shell: shell(99), retry: { on_failure: { fallback: { command: shell(1) } } } },
  { id: 'broken', shell: shell(99), retry: { breaker: 'db', on_failure: 'continue' } },
  { id: 'refused', shell: shell(1), retry: { breaker: 'db', on_failure: 'continue' } },
  { id: 'limited', shell: shell(99), retry: { budget: 'few', on_failure: 'continue' } },
  { id: 'skipped', shell: shell(1), when: 'data.n > 99' },
  { id: 'last', shell: shell(2, 'echo "${data.n}" >> seen'), when: 'data.n == 41' },
]

const WORKFLOW = {
  retry_defaults: { attempts: ATTEMPTS, backoff: 'exponential', initial_delay: '20ms', jitter: 'full' },
  breakers: { db: { failure_threshold: 3, recovery_timeout: '1h' } },
  budgets: { few: { type: 'count', total: TOTAL } },
  steps: STEPS,
}

/** What the run comes to, killed or not: state, attempts, why it stopped. */
const OUTCOME = [
  ['first', 'succeeded', 1, null],
  ['flaky', 'recovered', 3, null],
  ['hopeless', 'failed', 4, 'attempts_exhausted'],
  ['replaced', 'failed', 4, 'attempts_exhausted'],
  ['replaced.fallback', 'succeeded', 1, null],
  ['broken', 'failed', 3, 'breaker_open'],
  ['refused', 'failed', 0, 'breaker_open'],
  ['limited', 'failed', 1 + TOTAL, 'budget_denied'],
  ['skipped', 'skipped', 0, null],
  ['last', 'recovered', 2, null],
]

/** What is not needed is recorded as done without an attempt; what stands in for a step has one, however many others have. */
const NO_FAULTS = ['skipped: succeeded without one success at the end', 'replaced.fallback: exhausted too early']

interface Life {
  readonly fromMs: number
}

export interface StoryEnd {
  readonly kills: number
  readonly starts: number
  /** Starts beyond the first of an attempt. */
  readonly again: number
  readonly faults: readonly string[]
}

export class KillStory {
  private readonly scene = new Scene()
  private readonly random: () => number
  private readonly lives: Life[] = []
  private readonly faults: string[] = []
  private kills = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.scene.write('workflow.json', JSON.stringify(WORKFLOW))
  }

  /** Killed at most so often. */
  async play(mostKills: number): Promise<StoryEnd> {
    try {
      while (this.kills < mostKills && !(await this.liveAndDie()));
      await this.comeToEnd()
      const starts = this.notes()
      const attempts = new Set(starts.map(({ task, attempt }) => `${task} ${attempt}`))
      return { kills: this.kills, starts: starts.length, again: starts.length - attempts.size, faults: this.faults }
    } finally {
      this.scene.remove()
    }
  }

  /** Whether the run has ended. */
  private async liveAndDie(): Promise<boolean> {
    const going = await this.live()
    await this.someTime(going)
    if (going.child.exitCode === null) this.kills++
    const chance = this.random()
    if (chance < 0.3) await this.stopInOrder(going, chance < 0.15 ? 'SIGTERM' : 'SIGINT')
    else going.child.kill('SIGKILL')
    await going.ended
    // Sometimes the next one comes while the keeper still clears up.
    if (this.random() < 0.5) await this.scene.isClean()
    return this.check(false)
  }

  /** Asked to stop it leaves everything in order, unless it was not yet listening, or had just come to its end. */
  private async stopInOrder(going: Going, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    going.child.kill(signal)
    const { code, signal: by, stderr } = await going.ended
    if (by === signal || code === 3) return
    if (code !== (signal === 'SIGINT' ? 130 : 143)) this.faults.push(`asked to stop it ended with ${code}: ${stderr}`)
    const left = this.scene.left()
    if (left.length > 0) this.faults.push(`asked to stop it left ${left.join()}`)
    await this.scene.ledger(async (ledger) => {
      const run = await ledger.run('r1')
      if (run?.status !== 'interrupted' || run.owner !== null)
        this.faults.push(`asked to stop the run is ${run?.status}`)
      for (const { id, status } of await ledger.list({ scopeKind: 'run', scope: 'r1' }))
        if (status === 'running') this.faults.push(`asked to stop ${id} is still ${status}`)
    })
  }

  private async comeToEnd(): Promise<void> {
    for (let lives = 0; lives < 3 && !(await this.hasEnded()); lives++) {
      const { code, stderr } = await (await this.live()).ended
      if (code !== 3 && code !== 1) this.faults.push(`ended with ${code}: ${stderr}`)
    }
    await this.check(true)
    await this.scene.isClean()
    const seen = new Set(this.scene.read('seen').split('\n').filter(Boolean))
    if (seen.size !== 1 || !seen.has('41')) this.faults.push(`captures were seen as ${[...seen].join()}`)
    await this.compareOutcome()
  }

  private async live(): Promise<Going> {
    const isKnown = this.scene.has('.reprise/ledger.db') && (await this.isRecorded())
    this.scene.env['LIFE'] = String(this.lives.length)
    this.lives.push({ fromMs: Date.now() })
    return isKnown ? this.scene.start('resume', 'r1') : this.scene.start('run', 'workflow.json', '--run-id', 'r1')
  }

  private async isRecorded(): Promise<boolean> {
    return this.scene.ledger(async (ledger) => (await ledger.run('r1')) !== undefined)
  }

  private async hasEnded(): Promise<boolean> {
    return this.scene.ledger(async (ledger) => ((await ledger.run('r1'))?.endedAtMs ?? null) !== null)
  }

  /** Until it has made a few starts and a bit, or simply a while: then it may not even have begun. */
  private async someTime(going: Going): Promise<void> {
    const isOver = (): boolean => going.child.exitCode !== null
    const before = this.notes().length
    const starts = Math.floor(this.random() * 5)
    const pauseMs = this.random() * (starts === 0 ? 500 : 100)
    await until(
      () => isOver() || this.notes().length >= before + starts,
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
    if (!this.scene.has('.reprise/ledger.db') || !(await this.isRecorded())) return false
    return this.scene.ledger(async (ledger) => {
      const starts = await this.startsOf(ledger)
      const faults = await faultsOf(ledger, scopeOfRun('r1'), starts, { attempts: ATTEMPTS, finished })
      faults.push(...(await budgetFaults(ledger)))
      const own = faults.filter((fault) => !NO_FAULTS.includes(fault))
      this.faults.push(...own.map((fault) => `after ${this.kills} kills: ${fault}`))
      return ((await ledger.run('r1'))?.endedAtMs ?? null) !== null
    })
  }

  private async startsOf(ledger: Ledger): Promise<Start[]> {
    const known = new Map<string, number>()
    for (const task of await ledger.list({ scopeKind: 'run', scope: 'r1' })) {
      const { current } = task.progress
      const rows = [...(await ledger.attempts(task)), ...(current === null ? [] : [current])]
      for (const { attempt, execution, startedAtMs } of rows)
        known.set(`${task.id} ${attempt} ${this.lifeAt(startedAtMs)}`, execution)
    }
    // What no row is known of gets an execution that nobody has, and is told as a fault.
    return this.notes().map(({ task, attempt, life, atMs }) => {
      return { task, attempt, execution: known.get(`${task} ${attempt} ${life}`) ?? 0, atMs }
    })
  }

  private lifeAt(atMs: number): number {
    return this.lives.findLastIndex(({ fromMs }) => fromMs <= atMs)
  }

  /** The same as of a run that nobody killed, but where one attempt was interrupted so often that it counts as failed. */
  private async compareOutcome(): Promise<void> {
    const { state, steps } = await this.scene.show('r1')
    const isPatient = steps.every(({ history }) =>
      history.every(({ outcome, failure }) => outcome !== 'interrupted' || failure === null),
    )
    const outcome = steps.map(({ id, state: is, attempts, stopReason }) => [id, is, attempts, stopReason])
    if (isPatient && JSON.stringify(outcome) !== JSON.stringify(OUTCOME))
      this.faults.push(`came to ${JSON.stringify(outcome)}`)
    if (isPatient && state !== 'completed_with_failures') this.faults.push(`is ${state}`)
  }
}

/** I4: used are the retries that were made, and no more than there are. */
async function budgetFaults(ledger: Ledger): Promise<string[]> {
  const task = await ledger.get({ scopeKind: 'run', scope: 'r1', id: 'limited' })
  if (task === undefined) return []
  const retries = Math.max(0, task.progress.retry.launched - 1)
  const gate = (await ledger.gates()).find(({ key }) => key === 'budget:few@r1')
  const { used = 0 } = (gate?.state ?? {}) as { readonly used?: number }
  return used === retries && used <= TOTAL
    ? []
    : [`limited: made ${retries} retries, and ${used} of ${TOTAL} are charged`]
}
