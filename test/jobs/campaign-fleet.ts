/**
 * The processes of a campaign: workers, each behind a network of its own and with a directory of its own, and submitters.
 * A process that ends without having been killed is started again, as a supervisor would. Imports Node, the programs and
 * the proxy.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import { PostgresProxy } from '../postgres/proxy.js'
import type { DocumentWorkerSettings } from './document-worker.js'

export const LEASE_MS = 4000
const RESTART_MS = 200

export interface Programs {
  readonly worker: BundledProgram
  readonly submitter: BundledProgram
}

export async function bundlePrograms(): Promise<Programs> {
  const bundle = (name: string): Promise<BundledProgram> => bundleProgram(new URL(name, import.meta.url))
  const [worker, submitter] = await Promise.all([bundle('document-worker.ts'), bundle('job-submitter.ts')])
  return { worker, submitter }
}

export interface FleetCounts {
  started: number
  killed: number
  /** Processes that ended by themselves, since the store was away when they started. */
  gaveUp: number
  /** Why workers did not start, where the store was not away. */
  readonly refusals: string[]
  /** What workers said of results that they had kept. */
  readonly notes: Map<string, number>
}

/** One process that is kept running until it is done. */
export class Member {
  private readonly counts: FleetCounts
  private readonly arguments: (killedAt?: DocumentWorkerSettings['killedAt']) => readonly string[]
  private child: ChildProcess | undefined = undefined
  private isWanted = false
  isDone = false

  constructor(counts: FleetCounts, args: Member['arguments']) {
    this.counts = counts
    this.arguments = args
  }

  get isRunning(): boolean {
    return this.child !== undefined
  }

  start(killedAt?: DocumentWorkerSettings['killedAt']): void {
    if (this.isDone || this.child !== undefined) return
    this.isWanted = true
    this.counts.started++
    const child = spawn(process.execPath, this.arguments(killedAt), { stdio: ['ignore', 'pipe', 'ignore'] })
    this.child = child
    child.stdout.on('data', (text: Buffer) => this.hear(text.toString()))
    child.once('exit', (code, signal) => {
      this.child = undefined
      if (code === 0) this.isDone = true
      else if (signal === 'SIGKILL') this.counts.killed++
      else this.counts.gaveUp++
      if (this.isWanted && !this.isDone) setTimeout(() => this.isWanted && this.start(), RESTART_MS)
    })
  }

  /** `isWanted`: it is started again at once. Resolves when it is gone. */
  async kill(isWanted = false): Promise<void> {
    this.isWanted = isWanted
    const { child } = this
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  /** Resolves when it has been killed, by itself or by this, with whether it came to the place. */
  async killAt(place: DocumentWorkerSettings['killedAt'], mostMs: number): Promise<boolean> {
    await this.kill()
    this.start(place)
    const { child } = this
    this.isWanted = false
    if (child === undefined) return false
    const gone = new Promise<boolean>((resolve) => child.once('exit', () => resolve(true)))
    const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), mostMs))
    const isReached = await Promise.race([gone, late])
    if (!isReached) await this.kill()
    return isReached
  }

  private hear(text: string): void {
    for (const line of text.trim().split('\n')) {
      const [kind = ''] = line.split(' ')
      // Anything but a store that is away would be a fault of the program.
      if (
        kind === 'refused:' &&
        !/check that the server runs|max_connections|other processes continue once the lease/.test(line)
      )
        this.counts.refusals.push(line)
      if (/^(delivered|delivered_late|refused|abandoned)$/.test(kind))
        this.counts.notes.set(kind, (this.counts.notes.get(kind) ?? 0) + 1)
    }
  }
}

export interface FleetWorker extends Member {
  readonly datacenter: string
  readonly proxy: PostgresProxy
}

class WorkerMember extends Member implements FleetWorker {
  readonly datacenter: string
  readonly proxy: PostgresProxy

  constructor(counts: FleetCounts, datacenter: string, proxy: PostgresProxy, args: Member['arguments']) {
    super(counts, args)
    this.datacenter = datacenter
    this.proxy = proxy
  }
}

interface FleetParts {
  readonly programs: Programs
  readonly directory: string
  readonly address: string
  readonly counts: FleetCounts
}

/** Two workers of `eu`, and one of each other datacenter. */
const CREW = ['eu', 'eu', 'us', 'ap'] as const
export const SITES: readonly string[] = [...new Set(CREW)]

export class Fleet {
  readonly workers: readonly FleetWorker[]
  readonly submitters: readonly Member[]

  private constructor(workers: readonly FleetWorker[], submitters: readonly Member[]) {
    this.workers = workers
    this.submitters = submitters
  }

  /** `requests`: of each submitter, which waits for one job before it submits the next. */
  static async launch(parts: FleetParts, requests: readonly (readonly object[])[]): Promise<Fleet> {
    const { programs, directory, address, counts } = parts
    const workers = await Promise.all(
      CREW.map(async (datacenter, index) => {
        const proxy = await PostgresProxy.listen(Number(new URL(address).port))
        const dir = path.join(directory, `worker-${index}`)
        mkdirSync(dir, { recursive: true })
        return new WorkerMember(counts, datacenter, proxy, (killedAt) => {
          const settings = { datacenter, dir, lease: `${LEASE_MS}ms`, slots: 3, ...(killedAt && { killedAt }) }
          return [programs.worker.file, proxy.urlOf(address), JSON.stringify(settings)]
        })
      }),
    )
    const submitters = requests.map(
      (own) => new Member(counts, () => [programs.submitter.file, address, JSON.stringify(own), `${LEASE_MS}ms`]),
    )
    const fleet = new Fleet(workers, submitters)
    fleet.startAll()
    return fleet
  }

  get members(): readonly Member[] {
    return [...this.workers, ...this.submitters]
  }

  startAll(): void {
    for (const member of this.members) member.start()
  }

  at(datacenter: string): readonly FleetWorker[] {
    return this.workers.filter((worker) => worker.datacenter === datacenter)
  }

  async end(): Promise<void> {
    for (const member of this.members) await member.kill()
    for (const { proxy } of this.workers) await proxy.close()
  }
}
