/**
 * One run of a workflow that is killed or asked to stop at random moments, which a seed decides, and resumed until it has
 * ended. After each of these moments the ledger is compared with what really ran. What the workflow is, and what is true of
 * its end, is said by `killed-steps.ts` and by `killed-map.ts` of the maps. Imports the command-line fixture.
 *
 * Every command notes its task, its attempt and the process that conducted the run (see `NOTE_START`). These processes
 * follow each other, so a process and an attempt are one execution: that of the row that began while this process lived.
 */
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { AttemptRow, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import type { Start } from '../crash/history.js'
import { CliFixture, type Going, until } from './cli-fixture.js'

export const RUN = 'r1'

/** Shell text that notes a start; before anything else in the command of a task. */
export const NOTE_START = 'echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT $CONDUCTOR $(date +%s%3N)" >> starts'

export interface KilledRun {
  readonly kills: number
  readonly starts: number
  /** Starts beyond the first of an attempt. */
  readonly again: number
  readonly faults: readonly string[]
}

export interface KillSettings {
  readonly workflow: object
  /** A moment is chosen after fewer starts than this. */
  readonly mostStarts: number
  /** The share of processes that are asked to stop; the others are killed. */
  readonly orderlyShare: number
  /** Exit codes of a run that has ended. */
  readonly exitCodes: readonly number[]
}

/** Of a process that is asked to stop. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

export abstract class RandomKillRun {
  protected readonly cli = new CliFixture()
  private readonly settings: KillSettings
  private readonly random: () => number
  /** When each of the processes was started. */
  private readonly startedAtMs: number[] = []
  private readonly faults: string[] = []
  private kills = 0

  constructor(seed: number, settings: KillSettings) {
    this.settings = settings
    this.random = seededRandom(seed)
    this.cli.write('workflow.json', JSON.stringify(settings.workflow))
  }

  /** What is wrong with the recorded run; asked after each kill, and with `finished` at the end. */
  protected abstract faultsOf(ledger: Ledger, finished: boolean): Promise<string[]>
  /** What is wrong with what the run has come to. */
  protected abstract faultsAtEnd(): Promise<string[]>

  /** `mostKills`: then the run is left alone until it ends. */
  async play(mostKills: number): Promise<KilledRun> {
    try {
      let isEnded = false
      while (this.kills < mostKills && !isEnded) isEnded = await this.startAndKill()
      for (let processes = 0; processes < 4 && !(await this.hasEnded()); processes++) {
        const { code, stderr } = await (await this.start()).ended
        if (!this.settings.exitCodes.includes(code ?? -1)) this.faults.push(`ended with ${code}: ${stderr}`)
      }
      await this.check(true)
      await this.cli.isClean()
      this.faults.push(...(await this.faultsAtEnd()))
      const starts = this.notes()
      const attempts = new Set(starts.map(({ task, attempt }) => `${task} ${attempt}`))
      return { kills: this.kills, starts: starts.length, again: starts.length - attempts.size, faults: this.faults }
    } finally {
      this.cli.remove()
    }
  }

  /** Whether the run has ended. */
  private async startAndKill(): Promise<boolean> {
    const going = await this.start()
    await this.untilMoment(going)
    if (going.child.exitCode === null) this.kills++
    const chance = this.random() / this.settings.orderlyShare
    if (chance < 1) await this.stopInOrder(going, chance < 0.5 ? 'SIGTERM' : 'SIGINT')
    else going.child.kill('SIGKILL')
    await going.ended
    // Sometimes the next process comes while the keeper still ends what was left.
    if (this.random() < 0.5) await this.cli.isClean()
    return this.check(false)
  }

  /** Asked to stop it leaves everything in order, unless it was not yet listening, or had just come to its end. */
  private async stopInOrder(going: Going, signal: keyof typeof EXIT_CODES): Promise<void> {
    going.child.kill(signal)
    const { code, signal: by, stderr } = await going.ended
    if (by === signal || this.settings.exitCodes.includes(code ?? -1)) return
    if (code !== EXIT_CODES[signal]) this.faults.push(`asked to stop it ended with ${code}: ${stderr}`)
    const left = this.cli.left()
    if (left.length > 0) this.faults.push(`asked to stop it left ${left.join()}`)
    await this.look(async (ledger) => {
      const run = await ledger.run(RUN)
      // Stopped before the run was recorded.
      if (run === undefined) return
      if (run.status !== 'interrupted' || run.owner !== null) this.faults.push(`asked to stop the run is ${run.status}`)
      for (const { scope, id, status } of await ledger.list({ statuses: ['running', 'parked'] }))
        this.faults.push(`asked to stop ${scope}/${id} is still ${status}`)
    })
  }

  private async start(): Promise<Going> {
    const isRecorded = await this.look(async (ledger) => (await ledger.run(RUN)) !== undefined)
    this.cli.env['CONDUCTOR'] = String(this.startedAtMs.length)
    this.startedAtMs.push(Date.now())
    return isRecorded ? this.cli.start('resume', RUN) : this.cli.start('run', 'workflow.json', '--run-id', RUN)
  }

  /** Undefined if no process has come so far as to make the store. */
  protected async look<T>(how: (ledger: Ledger) => Promise<T>): Promise<T | undefined> {
    return (await this.cli.isKept()) ? this.cli.ledger(how) : undefined
  }

  private async hasEnded(): Promise<boolean> {
    return (await this.look(async (ledger) => ((await ledger.run(RUN))?.endedAtMs ?? null) !== null)) ?? false
  }

  /** After a few starts and some time, or after some time alone: then it may not even have begun. */
  private async untilMoment(going: Going): Promise<void> {
    const before = this.notes().length
    const starts = Math.floor(this.random() * this.settings.mostStarts)
    const pauseMs = this.random() * (starts === 0 ? 500 : 100)
    await until(
      () => going.child.exitCode !== null || this.notes().length >= before + starts,
      () => `${starts} starts; it said ${going.said()}`,
    )
    await Promise.race([going.ended, new Promise((resolve) => setTimeout(resolve, pauseMs))])
  }

  private notes(): { task: string; attempt: number; conductor: number; atMs: number }[] {
    const lines = this.cli.read('starts').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [task = '', attempt, conductor, atMs] = line.split(' ')
      return { task, attempt: Number(attempt), conductor: Number(conductor), atMs: Number(atMs) }
    })
  }

  /** Whether the run has ended; what is wrong is kept, with the number of kills before it was found. */
  private async check(finished: boolean): Promise<boolean> {
    const isEnded = await this.look(async (ledger) => {
      const run = await ledger.run(RUN)
      if (run === undefined) return false
      const faults = await this.faultsOf(ledger, finished)
      this.faults.push(...faults.map((fault) => `after ${this.kills} kills: ${fault}`))
      return run.endedAtMs !== null
    })
    return isEnded ?? false
  }

  /** The noted starts, each with the execution that the ledger has of it. */
  protected startsOf(tasks: readonly TaskRecord[], rows: readonly AttemptRow[]): Start[] {
    // Of one process: several where an attempt goes on alone after its batch has failed.
    const known = new Map<string, number[]>()
    const add = (
      id: string,
      { attempt, execution, startedAtMs }: Pick<AttemptRow, 'attempt' | 'execution' | 'startedAtMs'>,
    ) => {
      const name = `${id} ${attempt} ${this.startedAtMs.findLastIndex((atMs) => atMs <= startedAtMs)}`
      known.set(
        name,
        [...(known.get(name) ?? []), execution].toSorted((a, b) => a - b),
      )
    }
    for (const row of rows) add(row.id, row)
    for (const { id, progress } of tasks) if (progress.current !== null) add(id, progress.current)
    // A start that no row is known of gets an execution that no attempt has, and is a fault.
    const noted = new Map<string, number>()
    return this.notes().map(({ task, attempt, conductor, atMs }) => {
      const name = `${task} ${attempt} ${conductor}`
      const before = noted.get(name) ?? 0
      noted.set(name, before + 1)
      const executions = known.get(name) ?? [0]
      return { task, attempt, execution: executions[before] ?? executions.at(-1) ?? 0, atMs }
    })
  }
}

export interface Campaign {
  readonly seed: number
  readonly kills: number
  /** Runs at a time. */
  readonly lanes: number
}

const KILLS_OF_ONE = 8

/** Kills runs until there were enough kills; the sums of all runs, with the seed of each fault. */
export async function killRuns(
  make: (seed: number) => RandomKillRun,
  { seed, kills, lanes }: Campaign,
): Promise<KilledRun & { readonly runs: number }> {
  const runs: KilledRun[] = []
  let [planned, next] = [0, seed * 1000]
  const lane = async (): Promise<void> => {
    while (planned < kills) {
      const own = next++
      planned += KILLS_OF_ONE
      const run = await make(own).play(KILLS_OF_ONE)
      runs.push({ ...run, faults: run.faults.map((fault) => `seed ${own}: ${fault}`) })
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const sum = (of: (run: KilledRun) => number): number => runs.reduce((total, run) => total + of(run), 0)
  const sums = { kills: sum((run) => run.kills), starts: sum((run) => run.starts), again: sum((run) => run.again) }
  console.log(
    `seed ${seed}: ${runs.length} runs, ${sums.kills} kills, ${sums.starts} starts, ${sums.again} of them again`,
  )
  return { ...sums, runs: runs.length, faults: runs.flatMap(({ faults }) => faults) }
}
