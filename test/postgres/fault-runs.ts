/**
 * What happens to the processes of a scenario, and to the server they work on: one kind of fault each. Every run ends
 * with a calm process that brings the ledger to its end. Imports the proxy, the faults and the processes.
 */
import { KILL_POINTS } from '../crash/kill-points.js'
import type { LoadPlan } from '../crash/load-plan.js'
import type { End, LoadProcess } from '../crash/processes.js'
import type { Scenario } from '../crash/scenario.js'
import { CUT_MOMENTS, PostgresProxy } from './proxy.js'
import { BrokenDisk, Operator, type WriteFault } from './server-faults.js'
import type { PostgresServer } from './server.js'
import type { FaultRunKind, Tally } from './tally.js'

/** Where owners are to be believed lost. */
export const LEASE_MS = 300
/** Longer than any life: with locks that somebody holds who is gone it may be half a minute. */
const MAX_LIFE_MS = 150_000

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export interface FaultRunParts {
  readonly scenario: Scenario
  readonly server: PostgresServer
  readonly proxy: PostgresProxy
  readonly database: string
  readonly random: () => number
  readonly tally: Tally
  readonly kind: FaultRunKind
}

export class FaultRun {
  readonly parts: FaultRunParts
  private readonly lives = new Set<LoadProcess>()
  private left = 0

  constructor(parts: FaultRunParts) {
    this.parts = parts
  }

  /** Somebody of the crew still works. */
  get isOn(): boolean {
    return this.left > 0
  }

  below(limit: number): number {
    return Math.floor(this.parts.random() * limit)
  }

  between(least: number, most: number): number {
    return least + this.parts.random() * (most - least)
  }

  made(what: string, count = 1): void {
    const { made, byKind } = this.parts.tally
    made.set(what, (made.get(what) ?? 0) + count)
    byKind.set(this.parts.kind, (byKind.get(this.parts.kind) ?? 0) + count)
  }

  live(plan: Partial<LoadPlan> = {}): LoadProcess {
    this.parts.tally.lives++
    const life = this.parts.scenario.start({ mayFail: true, ...plan })
    this.lives.add(life)
    return life
  }

  /** Operations run, or nobody is left. */
  async isAtWork(): Promise<void> {
    const hasBegun = (): boolean => this.parts.scenario.noted().some(({ type }) => type === 'start')
    while (this.isOn && !hasBegun()) await pause(10)
  }

  /** Processes that are started again when their ledger has failed, until all tasks have ended. */
  async crew(count: number, plan: Partial<LoadPlan> = {}): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.keepAlive(plan)))
  }

  async keepAlive(plan: Partial<LoadPlan>, first?: LoadProcess): Promise<void> {
    this.left++
    try {
      let life = first ?? this.live(plan)
      while ((await this.ends(life)) === 'failed') {
        this.parts.tally.failed++
        life = this.live(plan)
      }
    } finally {
      this.left--
    }
  }

  /** The last of all: nobody disturbs it. */
  async comesToEnd(): Promise<void> {
    await this.keepAlive({ calm: true })
  }

  async ends(life: LoadProcess): Promise<End | 'hung'> {
    let timer: NodeJS.Timeout | undefined
    const hung = new Promise<'hung'>((resolve) => {
      timer = setTimeout(() => resolve('hung'), MAX_LIFE_MS)
    })
    try {
      const end = await Promise.race([life.end, hung])
      if (end === 'hung') {
        this.parts.scenario.faults.push('does not come to an end')
        life.kill()
      }
      return end
    } catch (error) {
      this.parts.scenario.faults.push((error as Error).message)
      return 'ended'
    } finally {
      clearTimeout(timer)
      this.lives.delete(life)
    }
  }

  /** Whoever is left after something went wrong. */
  end(): void {
    for (const life of this.lives) life.kill()
  }
}

type Play = (faultRun: FaultRun) => Promise<void>

export const FAULT_RUNS: Readonly<Record<FaultRunKind, Play>> = {
  terminated,
  restarted,
  cut,
  disk,
  paused,
  silent,
  killed,
}

async function terminated(faultRun: FaultRun): Promise<void> {
  const { server, database, random } = faultRun.parts
  const operator = await Operator.connect(server.url)
  const crew = faultRun.crew(2)
  // Some while they still open the ledger.
  const early = faultRun.below(6)
  for (let count = 0; count < 45 && faultRun.isOn; ) {
    if (count === early) await faultRun.isAtWork()
    await pause(faultRun.between(0, 60))
    const what = await operator.terminate(database, random, faultRun.below(4) === 0 ? 0 : 20)
    if (what === 'nobody') continue
    count++
    faultRun.made(what === 'committing' ? 'backends terminated while they committed' : 'backends terminated')
  }
  await operator.end()
  await crew
  await faultRun.comesToEnd()
}

async function restarted(faultRun: FaultRun): Promise<void> {
  const { server } = faultRun.parts
  const crew = faultRun.crew(2)
  for (let count = 0; count < 6; count++) {
    await pause(faultRun.between(150, 700))
    if (!faultRun.isOn) break
    await server.stop('immediate')
    // Sometimes for longer than a connection takes to fail.
    if (faultRun.below(3) === 0) await pause(faultRun.between(0, 800))
    await server.start()
    faultRun.made('immediate stops of the server')
  }
  await crew
  await faultRun.comesToEnd()
}

async function cut(faultRun: FaultRun): Promise<void> {
  const { proxy } = faultRun.parts
  const crew = faultRun.crew(2).then(() => 'over' as const)
  for (let count = 0; count < 40; count++) {
    const moment = CUT_MOMENTS[faultRun.below(CUT_MOMENTS.length)] ?? 'during'
    const done = proxy.cutAtCommit(moment, 1 + faultRun.below(12))
    if ((await Promise.race([done, crew])) === 'over') break
    faultRun.made(`connections cut ${moment} a commit`)
  }
  await crew
  // Nobody is there any more for whom it was meant.
  void proxy.cutAtCommit('before', Infinity)
  await faultRun.comesToEnd()
}

async function disk(faultRun: FaultRun): Promise<void> {
  const { server } = faultRun.parts
  const crew = faultRun.crew(2)
  for (let count = 0; count < 2; count++) {
    await pause(faultRun.between(100, 600))
    if (!faultRun.isOn) break
    const call: WriteFault = faultRun.below(3) === 0 ? 'pwrite64' : 'fdatasync'
    const broken = new BrokenDisk(server, call)
    const endMs = performance.now() + 10_000
    while (broken.failures === 0 && faultRun.isOn && performance.now() < endMs) await pause(5)
    await pause(faultRun.between(0, 300))
    await broken.heal()
    // Unless its disk failed while it recovered from just that, it comes back by itself.
    await server.settled()
    if (!server.isRunning) await server.start()
    if (broken.failures > 0) faultRun.made(`EIO at ${call} of the server`)
  }
  await crew
  await faultRun.comesToEnd()
}

/** One of two is stopped for longer than its lease, while the other takes over; then it goes on. */
async function paused(faultRun: FaultRun): Promise<void> {
  const lives = [faultRun.live(), faultRun.live()]
  const crew = Promise.all(lives.map((life) => faultRun.keepAlive({}, life)))
  await faultRun.isAtWork()
  for (let count = 0; count < 3 && faultRun.isOn; count++) {
    await pause(faultRun.between(0, 250))
    const zombie = lives[faultRun.below(2)]?.child
    const isStopped = zombie?.exitCode === null && zombie.kill('SIGSTOP')
    await pause(LEASE_MS * 2 + faultRun.between(0, 400))
    zombie?.kill('SIGCONT')
    if (isStopped) faultRun.made('owners stopped for longer than their lease')
  }
  await crew
  await faultRun.comesToEnd()
}

/** Between one of two and the server nothing gets through, for longer than its lease. */
async function silent(faultRun: FaultRun): Promise<void> {
  const { server, database } = faultRun.parts
  const own = await PostgresProxy.listen(server.port)
  try {
    const crew = Promise.all([faultRun.crew(1, { address: own.urlOf(server.urlOf(database)) }), faultRun.crew(1)])
    await faultRun.isAtWork()
    for (let count = 0; count < 3 && faultRun.isOn; count++) {
      await pause(faultRun.between(0, 250))
      const isCutOff = own.connections > 0
      own.silenceAll(faultRun.below(3) === 0 ? 'answers' : 'both')
      await pause(LEASE_MS * 2 + faultRun.between(0, 600))
      const how = faultRun.below(2) === 0 ? 'late' : 'reset'
      own.heal(how)
      own.delayMs = faultRun.below(2) * 3
      const then = how === 'late' ? 'all of it arrived' : 'reset'
      if (isCutOff) faultRun.made(`networks silent for longer than a lease, then ${then}`)
    }
    await crew
  } finally {
    await own.close()
  }
  await faultRun.comesToEnd()
}

/** At a named point, or at any moment; alone, and then several at once. */
async function killed(faultRun: FaultRun): Promise<void> {
  const { scenario, random } = faultRun.parts
  for (let life = 0; life < 5; life++) {
    await killOne(faultRun)
    if (random() < 0.5) await scenario.look(true)
  }
  await Promise.all(Array.from({ length: 2 + faultRun.below(3) }, () => killOne(faultRun)))
  await scenario.look()
  await faultRun.comesToEnd()
}

async function killOne(faultRun: FaultRun): Promise<void> {
  const { random } = faultRun.parts
  const usual = KILL_POINTS.filter(({ verb }) => verb === 'transact' || verb === 'claim' || verb === 'create')
  const among = random() < 0.6 ? usual : KILL_POINTS
  const chosen = among[faultRun.below(among.length)]
  const isNamed = random() < 0.5 && chosen !== undefined
  const life = faultRun.live(isNamed ? { point: { ...chosen, nth: 1 + faultRun.below(25) } } : {})
  await Promise.race([life.ready, life.end.catch(() => undefined)])
  await Promise.race([pause(isNamed ? 1500 : faultRun.between(0, 250)), life.end.catch(() => undefined)])
  const wasAlive = life.child.exitCode === null && life.child.signalCode === null
  life.kill()
  if ((await faultRun.ends(life)) !== 'killed') return
  const isAt = isNamed && !wasAlive
  faultRun.made(isAt ? `processes killed ${chosen.moment} ${chosen.verb}` : 'processes killed at a random moment')
}
