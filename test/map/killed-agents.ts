/**
 * A run with a map, the process that conducts it and agents beside it, which are killed, stopped in order and suspended at
 * random moments that a seed decides, each replaced at once. Now and then, and at the end, the ledger is compared with what
 * really ran; of a map in working trees, the repository with the ledger. Imports the command-line fixture, the history
 * checker and the checks of maps and merges.
 */
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type AttemptRow, scopeOfRun, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { faultsOf, type Start } from '../crash/history.js'
import { CliFixture, type Going, until } from '../workflow/cli-fixture.js'
import { GitScene } from './git-scene.js'
import { parallelFaults, rateFaults, retryFaults, tallyFaults } from './map-checks.js'
import { conflictsOf, mergedExecutions, mergeFaults } from './merge-history.js'

const RUN = 'r1'
const MAP = `${RUN}/map`
const ATTEMPTS = 3
const MAX_RETRIES = 60
const RATE = { perSecond: 40, burst: 2 }
/** Agents are lost for the others when they have said nothing for so long. */
const LEASE_MS = 2000
const CONDUCTOR = 0

/** Every fourth item fails at its first attempt, every ninth always. */
const WORK = [
  'echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT $LIFE $(date +%s%3N)" >> "$NOTES/starts"',
  'sleep "0.$(( 1 + REPRISE_ITEM_INDEX % 3 ))"',
  'if [ $(( REPRISE_ITEM_INDEX % 9 )) = 0 ]; then exit 9; fi',
  'if [ $(( REPRISE_ITEM_INDEX % 4 )) = 1 ] && [ "$REPRISE_ATTEMPT" = 1 ]; then exit 8; fi',
  'echo "done ${item}"',
].join('\n')

/**
 * In a working tree, each execution leaves a proof of its own and the file of its item, with what only it would write. Two
 * neighbours of each ten write the same file: where they run at once, the second one conflicts.
 */
const WORK_IN_TREE = [
  'cd "$(git rev-parse --show-toplevel)"',
  'proof="proof-$REPRISE_ITEM_INDEX-$LIFE-$$"',
  'echo x > "$proof"; echo "$proof" >> "$NOTES/proofs"',
  'echo "$LIFE $$" >> "file-${item}"',
  'case $(( REPRISE_ITEM_INDEX % 10 )) in 3|4) echo "${item}" > "pair-$(( REPRISE_ITEM_INDEX / 10 ))" ;; esac',
  WORK,
].join('\n')

export interface AgentsSettings {
  readonly agents: number
  readonly items: number
  readonly isolation: 'none' | 'worktree'
}

export interface KilledAgentsSums {
  readonly runs: number
  readonly items: number
  readonly processes: number
  readonly kills: number
  /** Of the process that conducts. */
  readonly conductorKills: number
  readonly pauses: number
  readonly orderly: number
  readonly starts: number
  /** Starts beyond the first of an attempt. */
  readonly again: number
  /** Attempts that a process other than the conductor ran. */
  readonly byAgents: number
  /** Items that were merged. */
  readonly merged: number
  /** Items whose work was refused by the merge. */
  readonly conflicts: number
  /** Working trees that were left for `clean`. */
  readonly orphans: number
  readonly faults: readonly string[]
}

interface Life {
  readonly name: string
  /** 0 conducts, the others are agents. */
  readonly place: number
  readonly going: Going
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

export class KilledAgents {
  private readonly cli = new CliFixture()
  private readonly random: () => number
  private readonly settings: AgentsSettings
  private readonly lives: Life[] = []
  /** Names of processes by owner, as far as they were seen. */
  private readonly owners = new Map<string, string>()
  private readonly pids = new Map<number, string>()
  private readonly faults: string[] = []
  private readonly maxParallel: number
  /** Where the map works in working trees. */
  private readonly repository: GitScene | undefined
  private readonly base: string
  private started = 0
  private sums = { kills: 0, conductorKills: 0, pauses: 0, orderly: 0, merged: 0, conflicts: 0, orphans: 0 }

  constructor(seed: number, settings: AgentsSettings) {
    this.random = seededRandom(seed)
    this.settings = settings
    this.maxParallel = Math.max(3, settings.agents)
    this.cli.env['NOTES'] = this.cli.directory
    this.cli.write('workflow.json', JSON.stringify(this.workflow()))
    this.repository = settings.isolation === 'worktree' ? new GitScene(this.cli, { README: 'begin\n' }) : undefined
    this.base = this.repository?.git('rev-parse', 'HEAD') ?? ''
  }

  private workflow(): object {
    const { items, isolation } = this.settings
    return {
      mode: 'mapreduce',
      name: 'killed',
      setup: [{ id: 'setup', shell: `seq 1 ${items}`, capture: 'numbers', capture_format: 'lines' }],
      map: {
        input: '${numbers}',
        max_parallel: this.maxParallel,
        rate: `${RATE.perSecond}/s`,
        isolation,
        agent_template: [
          { id: 'prepare', shell: 'true' },
          { id: 'work', shell: isolation === 'worktree' ? WORK_IN_TREE : WORK, capture: 'text' },
        ],
        on_item_error: [{ shell: 'echo "${item}" >> "$NOTES/given-up"' }],
      },
      reduce: [{ id: 'reduce', shell: 'cp "${map.results_file}" "$NOTES/reduced"' }],
      error_policy: {
        item_retry: { attempts: ATTEMPTS, backoff: 'exponential', initial_delay: '20ms', jitter: 'full' },
        max_retries: MAX_RETRIES,
      },
    }
  }

  /** `mostKills`: then the run is left alone until it ends. */
  async play(mostKills: number): Promise<KilledAgentsSums> {
    try {
      await this.begin(CONDUCTOR)
      for (let place = 1; place <= this.settings.agents; place++) await this.begin(place)
      while (this.sums.kills < mostKills && !(await this.hasEnded())) await this.disturb()
      await this.toTheEnd()
      const { starts, again, byAgents } = await this.check(true)
      this.faults.push(...(await this.faultsAtEnd()))
      await this.cli.isClean()
      if (this.repository !== undefined) this.faults.push(...(await this.faultsOfMerges(this.repository)))
      const { items } = this.settings
      const counts = { runs: 1, items, processes: this.started, starts, again, byAgents }
      return { ...counts, ...this.sums, faults: this.faults }
    } finally {
      this.cli.remove()
    }
  }

  private async begin(place: number): Promise<void> {
    const name = `${place}.${this.started++}`
    this.cli.env['LIFE'] = name
    const going = this.cli.start(...(await this.commandOf(place)))
    this.lives[place] = { name, place, going }
    this.pids.set(going.child.pid ?? 0, name)
    if (place !== CONDUCTOR || this.started > 1) return
    await until(
      async () => (await this.look(async (ledger) => (await ledger.run(RUN)) !== undefined)) === true,
      () => `the run; the conductor said ${going.said()}`,
      going,
    )
  }

  private async commandOf(place: number): Promise<string[]> {
    if (place !== CONDUCTOR) return ['agent', RUN, '--parallel', '2', '--lease', `${LEASE_MS}ms`]
    const isRecorded = await this.look(async (ledger) => (await ledger.run(RUN)) !== undefined)
    return isRecorded === true ? ['resume', RUN] : ['run', 'workflow.json', '--run-id', RUN]
  }

  /** One process, at a moment after some starts of items or after some time; its place is taken by another one. */
  private async disturb(): Promise<void> {
    await this.untilMoment()
    const life = this.chosen()
    const { place } = life
    const chance = this.random()
    if (life.going.child.exitCode !== null || life.going.child.signalCode !== null) await this.replace(life)
    else if (chance < 0.1) await this.stopInOrder(life)
    else if (chance < 0.2 && place !== CONDUCTOR) await this.suspend(life)
    else await this.kill(life)
    if (this.random() < 0.2) await this.check(false)
  }

  /** As a rule one that has begun items: others are killed while they start. */
  private chosen(): Life {
    const working = new Set(this.notes().map(({ life }) => life))
    const busy = this.lives.filter(({ name }) => working.has(name))
    const from = this.random() < 0.85 && busy.length > 0 ? busy : this.lives
    return this.life(from, Math.floor(this.random() * from.length))
  }

  private life(from: readonly Life[], index: number): Life {
    const life = from[index]
    if (life === undefined) throw new Error(`there is no process ${index}`)
    return life
  }

  private async kill(life: Life): Promise<void> {
    life.going.child.kill('SIGKILL')
    await life.going.ended
    this.sums.kills++
    if (life.place === CONDUCTOR) this.sums.conductorKills++
    // Sometimes nobody conducts the run for a while.
    if (life.place === CONDUCTOR && this.random() < 0.3) await pause(this.random() * 1500)
    await this.replace(life)
  }

  private async stopInOrder(life: Life): Promise<void> {
    const signal = this.random() < 0.5 ? 'SIGTERM' : 'SIGINT'
    life.going.child.kill(signal)
    const { code, signal: by, stderr } = await life.going.ended
    this.sums.orderly++
    // It was not yet listening, or had just come to its end.
    const isFine = by === signal || code === EXIT_CODES[signal] || this.isEnd(life.place, code)
    if (!isFine) this.faults.push(`${life.name} asked to stop ended with ${code}: ${stderr}`)
    await this.replace(life)
  }

  /** For longer than its lease, or not. Others may be killed meanwhile. */
  private async suspend(life: Life): Promise<void> {
    this.sums.pauses++
    life.going.child.kill('SIGSTOP')
    await pause(LEASE_MS * (0.4 + this.random()))
    life.going.child.kill('SIGCONT')
  }

  private async replace(life: Life): Promise<void> {
    const { code, signal, stderr } = await life.going.ended
    const wasStopped = signal !== null || Object.values(EXIT_CODES).includes(code as never)
    if (!wasStopped && !this.isEnd(life.place, code)) this.faults.push(`${life.name} ended with ${code}: ${stderr}`)
    if (!(await this.hasEnded())) await this.begin(life.place)
  }

  private isEnd(place: number, code: number | null): boolean {
    return place === CONDUCTOR ? code === 3 : code === 0
  }

  private async toTheEnd(): Promise<void> {
    for (let tries = 0; tries < 5 && !(await this.hasEnded()); tries++) {
      const { going, name } = this.life(this.lives, CONDUCTOR)
      const { code, stderr } = await going.ended
      if (await this.hasEnded()) break
      this.faults.push(`${name} ended with ${code} before the run did: ${stderr}`)
      await this.begin(CONDUCTOR)
    }
    for (const life of this.lives) {
      const { code, signal, stderr } = await life.going.ended
      const isKilled = signal !== null || Object.values(EXIT_CODES).includes(code as never)
      if (!isKilled && !this.isEnd(life.place, code)) this.faults.push(`${life.name} ended with ${code}: ${stderr}`)
    }
  }

  private async untilMoment(): Promise<void> {
    const before = this.notes().length
    const starts = Math.floor(this.random() * 8)
    const endMs = performance.now() + 1500 + this.random() * 500
    while (this.notes().length < before + starts && performance.now() < endMs) {
      await this.learnOwners()
      await pause(20)
    }
    await pause(this.random() * 150)
    await this.learnOwners()
  }

  /** Rows of owners go with them. */
  private async learnOwners(): Promise<void> {
    const owners = await this.look((ledger) => ledger.owners())
    for (const { id, pid } of owners ?? []) {
      const name = this.pids.get(pid)
      if (name !== undefined) this.owners.set(id, name)
    }
  }

  private async check(finished: boolean): Promise<Pick<KilledAgentsSums, 'starts' | 'again' | 'byAgents'>> {
    await this.learnOwners()
    const found = await this.look(async (ledger) => {
      const tasks = await ledger.list({ ...scopeOfRun(MAP) })
      const rows = await ledger.attemptsOfRun(MAP)
      const starts = this.startsOf(tasks, rows)
      const faults = [
        ...(await faultsOf(ledger, scopeOfRun(MAP), starts, { attempts: ATTEMPTS, finished })),
        ...(await tallyFaults(ledger, MAP, await ledger.list({ ...scopeOfRun(MAP) }))),
        ...parallelFaults(rows, this.maxParallel),
        ...rateFaults(rows, RATE),
        ...(await retryFaults(ledger, MAP, await ledger.list({ ...scopeOfRun(MAP) }), MAX_RETRIES)),
      ]
      return { faults, starts, rows }
    })
    if (found === undefined) return { starts: 0, again: 0, byAgents: 0 }
    // While processes go on, what is read one after the other is of different moments: only the end is looked at whole.
    const isWhole = (fault: string): boolean => finished || /ran at once|the rate is/.test(fault)
    const isMeant = (fault: string): boolean => !fault.endsWith('exhausted too early') && !this.isMergedBefore(fault)
    const faults = found.faults.filter((fault) => isWhole(fault) && isMeant(fault))
    this.faults.push(
      ...faults.map((fault) => `after ${this.sums.kills} kills: ${fault}${historyIn(fault, found.rows)}`),
    )
    const attempts = new Set(found.starts.map(({ task, attempt }) => `${task} ${attempt}`))
    const byAgents = found.rows.filter(({ owner }) => this.owners.get(owner)?.startsWith('0.') === false).length
    return { starts: found.starts.length, again: found.starts.length - attempts.size, byAgents }
  }

  /** An execution that finds the work of an earlier one merged has an outcome, and runs nothing. */
  private isMergedBefore(fault: string): boolean {
    const [, id = '', own = ''] = /^(\S+): attempt (\S+) has an outcome, and never ran$/.exec(fault) ?? []
    if (this.repository === undefined || id === '') return false
    const merged = mergedExecutions({ repository: this.repository, base: this.base }).get(id)
    return merged !== undefined && merged.localeCompare(own, undefined, { numeric: true }) < 0
  }

  private notes(): { task: string; attempt: number; life: string; atMs: number }[] {
    const lines = this.cli.read('starts').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [task = '', attempt, life = '', atMs] = line.split(' ')
      return { task, attempt: Number(attempt), life, atMs: Number(atMs) }
    })
  }

  /** The noted starts, each with the execution that the ledger has of it: that of the process that began it. */
  private startsOf(tasks: readonly TaskRecord[], rows: readonly AttemptRow[]): Start[] {
    const known = new Map<string, { execution: number; atMs: number }[]>()
    const add = (id: string, attempt: number, owner: string, one: { execution: number; atMs: number }): void => {
      const key = `${id} ${attempt} ${this.owners.get(owner) ?? '?'}`
      known.set(key, [...(known.get(key) ?? []), one])
    }
    for (const { id, attempt, owner, execution, startedAtMs } of rows)
      add(id, attempt, owner, { execution, atMs: startedAtMs })
    for (const { id, owner, progress } of tasks)
      if (progress.current !== null && owner !== null)
        add(id, progress.current.attempt, owner, {
          execution: progress.current.execution,
          atMs: progress.current.startedAtMs,
        })
    return this.notes().map(({ task, attempt, life, atMs }) => {
      const executions = known.get(`${task} ${attempt} ${life}`) ?? known.get(`${task} ${attempt} ?`) ?? []
      // A process that was suspended may have begun the same attempt twice.
      const execution = executions.findLast((one) => one.atMs <= atMs + 50)?.execution ?? 0
      return { task, attempt, execution, atMs }
    })
  }

  /** Every item is in the results once, in order, as the ledger has it, and was given up once if it failed. */
  private async faultsAtEnd(): Promise<string[]> {
    const faults: string[] = []
    const lines = this.cli.read('reduced').split('\n').filter(Boolean)
    const reduced = lines.map((line) => JSON.parse(line) as { index: number; state: string; result: string | null })
    const isInOrder = reduced.every(({ index }, place) => index === place)
    if (reduced.length !== this.settings.items || !isInOrder) faults.push(`reduce saw ${reduced.length} items`)
    const tasks = (await this.look((ledger) => ledger.list({ ...scopeOfRun(MAP) }))) ?? []
    for (const [place, { status, result }] of tasks.entries()) {
      const isSame = (reduced[place]?.result ?? null) === (result ?? null)
      if (!isSame) faults.push(`item ${place} is ${status}, and reduce saw ${JSON.stringify(reduced[place])}`)
      if (status === 'succeeded' && result !== `done ${place + 1}`) faults.push(`item ${place} gave ${String(result)}`)
      if (status !== 'succeeded' && status !== 'failed') faults.push(`item ${place} is ${status}`)
    }
    const dead = tasks.filter(({ status }) => status === 'failed').length
    const givenUp = new Set(this.cli.read('given-up').split('\n').filter(Boolean))
    if (givenUp.size !== dead) faults.push(`${dead} items failed, and on_item_error ran for ${givenUp.size}`)
    return faults
  }

  /** After `clean`: agents that were killed at the end, and not replaced, leave their trees to it. */
  private async faultsOfMerges(repository: GitScene): Promise<string[]> {
    const read = await this.look(async (ledger) => ({
      tasks: await ledger.list({ ...scopeOfRun(MAP) }),
      rows: await ledger.attemptsOfRun(MAP),
      letters: await ledger.deadLetters({ ...scopeOfRun(MAP) }),
    }))
    if (read === undefined) return ['there is no store any more']
    this.sums.orphans += repository.trees()
    const { code, stderr } = await this.cli.reprise('clean', '--yes')
    if (code !== 0) return [`clean ended with ${code}: ${stderr}`]
    this.sums.merged += read.tasks.filter(({ status }) => status === 'succeeded').length
    this.sums.conflicts += conflictsOf(read.letters).length
    const proofs = this.cli.read('proofs').split('\n').filter(Boolean)
    const fileOf = ({ id }: TaskRecord): string => `file-${Number.parseInt(id, 10) + 1}`
    return mergeFaults({ repository, base: this.base, ...read, proofs, fileOf })
  }

  private async look<T>(how: (ledger: Ledger) => Promise<T>): Promise<T | undefined> {
    return (await this.cli.isKept()) ? this.cli.ledger(how) : undefined
  }

  private async hasEnded(): Promise<boolean> {
    return (await this.look(async (ledger) => ((await ledger.run(RUN))?.endedAtMs ?? null) !== null)) ?? false
  }
}

/** The attempts of the item that a fault names. */
function historyIn(fault: string, rows: readonly AttemptRow[]): string {
  const [id = ''] = fault.split(':')
  const own = rows.filter((row) => row.id === id)
  const told = own.map(({ attempt, execution, outcome, failure }) => {
    return `${attempt}.${execution} ${outcome}${failure === null ? '' : ` (${failure.message})`}`
  })
  return told.length === 0 ? '' : ` [${told.join(', ')}]`
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs))
}
