/**
 * Many scenarios on real PostgreSQL servers, each with faults of one kind, until there were so many of every kind. A lane
 * has a server of its own, since one that is stopped is stopped for all. Imports the fault runs, the scenarios and the server.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Program } from '../crash/processes.js'
import { Scenario } from '../crash/scenario.js'
import { snapshotOf } from '../crash/snapshots.js'
import { PostgresProxy } from './proxy.js'
import { postgresStore } from './postgres-store.js'
import { LEASE_MS, FaultRun, FAULT_RUNS } from './fault-runs.js'
import { canTrace, Operator } from './server-faults.js'
import { PostgresServer } from './server.js'
import { FAULT_RUN_KINDS, newTally, type FaultRunKind, type Tally } from './tally.js'

/** How many faults of each kind. */
export type Goals = Readonly<Record<FaultRunKind, number>>

/** `terminated` backends, and in proportion everything else. */
export function goalsOf(terminated: number): Goals {
  const share = (of500: number): number => Math.max(1, Math.round((terminated * of500) / 500))
  return {
    terminated,
    restarted: share(50),
    cut: share(200),
    disk: canTrace() ? share(10) : 0,
    paused: share(20),
    silent: share(20),
    killed: share(100),
  }
}

export interface CampaignOptions {
  readonly program: Program
  readonly directory: string
  readonly seed: number
  readonly goals: Goals
  readonly lanes: number
  /** One fault run, as it was named by a fault. */
  readonly only?: string
  readonly onFaultRun?: (tally: Tally) => void
}

export class PostgresCampaign {
  readonly tally = newTally()
  private readonly options: CampaignOptions
  private readonly dealt = new Map<FaultRunKind, number>()
  private turn = 0

  constructor(options: CampaignOptions) {
    this.options = options
  }

  async run(): Promise<Tally> {
    const lanes = this.options.only === undefined ? this.options.lanes : 1
    await Promise.all(Array.from({ length: lanes }, () => this.lane()))
    return this.tally
  }

  private async lane(): Promise<void> {
    // Small, so that checkpoints fall into the fault runs.
    const settings = { max_wal_size: '64MB', shared_buffers: '64MB' }
    const server = await PostgresServer.start({ maxConnections: 200, settings })
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) await this.play(server, ...next)
    } finally {
      await server.remove()
    }
  }

  /** In turn, one of those that there were not enough of. */
  private next(): [FaultRunKind, number] | undefined {
    const { only, goals } = this.options
    if (only !== undefined) {
      if (this.turn++ > 0) return undefined
      const [kind, place] = only.split('-')
      return [kind as FaultRunKind, Number(place)]
    }
    const open = FAULT_RUN_KINDS.filter((kind) => (this.tally.byKind.get(kind) ?? 0) < goals[kind])
    const kind = open[this.turn++ % open.length]
    if (kind === undefined) return undefined
    const place = this.dealt.get(kind) ?? 0
    this.dealt.set(kind, place + 1)
    return [kind, place]
  }

  private async play(server: PostgresServer, kind: FaultRunKind, place: number): Promise<void> {
    const { program, directory } = this.options
    const name = `${kind}-${place}`
    const seed = this.options.seed * 1000 + FAULT_RUN_KINDS.indexOf(kind) * 100_000_000 + place
    const database = `scene_${kind}_${place}`
    const operator = await Operator.connect(server.url)
    await operator.query(`CREATE DATABASE ${database} TEMPLATE template0`)
    if (kind === 'terminated' || (kind === 'restarted' && place % 2 === 1)) await operator.slowCommits(database, 4)
    await operator.end()
    const proxy = await PostgresProxy.listen(server.port)
    const url = server.urlOf(database)
    const store = postgresStore(url, kind === 'cut' ? proxy.urlOf(url) : url)
    const isLeased = kind === 'paused' || kind === 'silent'
    const timing = isLeased ? { leaseMs: LEASE_MS, workMs: 60 } : { tasksOfKind: 20 }
    const scenario = new Scenario({ program, directory, name, seed, store, ...timing })
    const faultRun = new FaultRun({
      scenario,
      server,
      proxy,
      database,
      random: seededRandom(seed),
      tally: this.tally,
      kind,
    })
    try {
      await FAULT_RUNS[kind](faultRun)
      await this.conclude(scenario, name)
    } finally {
      faultRun.end()
      await proxy.close()
    }
    const after = await Operator.connect(server.url)
    await after.query(`DROP DATABASE ${database} WITH (FORCE)`)
    await after.end()
    this.options.onFaultRun?.(this.tally)
  }

  private async conclude(scenario: Scenario, name: string): Promise<void> {
    const findings = await scenario.check()
    const { tally } = this
    tally.faultRuns++
    tally.tasks += findings.tasks
    tally.starts += findings.starts
    tally.again += findings.again
    tally.faults.push(...findings.faults.map((fault) => `${name}: ${fault}`))
    if (findings.faults.length > 0) await this.keep(scenario, name)
  }

  /** The database goes with its server: what is in it is kept beside the journal. */
  private async keep({ store }: Scenario, name: string): Promise<void> {
    const ledger = await store.open()
    try {
      const { tasks, gates } = await snapshotOf(ledger)
      const attempts = await Promise.all(tasks.map((task) => ledger.attempts(task)))
      const events = await ledger.events(0, Number.MAX_SAFE_INTEGER)
      const letters = await ledger.deadLetters()
      const file = path.join(this.options.directory, `${name}.ledger.json`)
      writeFileSync(file, JSON.stringify({ tasks, attempts: attempts.flat(), gates, letters, events }, null, 1))
    } finally {
      await ledger.close()
    }
  }
}
