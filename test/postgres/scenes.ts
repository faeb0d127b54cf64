/**
 * What happens to the processes of a scenario, and to the server they work on: one kind of fault each. Every scene ends
 * with a calm process that brings the ledger to its end. Imports the proxy, the faults and the processes.
 */
import { KILL_POINTS } from '../crash/kill-points.js'
import type { LoadPlan } from '../crash/load-plan.js'
import type { End, LoadProcess } from '../crash/processes.js'
import type { Scenario } from '../crash/scenario.js'
import { CUT_MOMENTS, PostgresProxy } from './proxy.js'
import { BrokenDisk, Operator, type WriteFault } from './server-faults.js'
import type { PostgresServer } from './server.js'
import type { SceneKind, Tally } from './tally.js'

/** Where owners are to be believed lost. */
export const LEASE_MS = 300
/** Longer than any life: with locks that somebody holds who is gone it may be half a minute. */
const MAX_LIFE_MS = 150_000

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export interface SceneParts {
  readonly scenario: Scenario
  readonly server: PostgresServer
  readonly proxy: PostgresProxy
  readonly database: string
  readonly random: () => number
  readonly tally: Tally
  readonly kind: SceneKind
}

export class Scene {
  readonly parts: SceneParts
  private readonly lives = new Set<LoadProcess>()
  private left = 0

  constructor(parts: SceneParts) {
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

type Play = (scene: Scene) => Promise<void>

export const SCENES: Readonly<Record<SceneKind, Play>> = {
  terminated,
  restarted,
  cut,
  disk,
  paused,
  silent,
  killed,
}

async function terminated(scene: Scene): Promise<void> {
  const { server, database, random } = scene.parts
  const operator = await Operator.connect(server.url)
  const crew = scene.crew(2)
  // Some while they still open the ledger.
  const early = scene.below(6)
  for (let count = 0; count < 45 && scene.isOn; ) {
    if (count === early) await scene.isAtWork()
    await pause(scene.between(0, 60))
    const what = await operator.terminate(database, random, scene.below(4) === 0 ? 0 : 20)
    if (what === 'nobody') continue
    count++
    scene.made(what === 'committing' ? 'backends terminated while they committed' : 'backends terminated')
  }
  await operator.end()
  await crew
  await scene.comesToEnd()
}

async function restarted(scene: Scene): Promise<void> {
  const { server } = scene.parts
  const crew = scene.crew(2)
  for (let count = 0; count < 6; count++) {
    await pause(scene.between(150, 700))
    if (!scene.isOn) break
    await server.stop('immediate')
    // Sometimes for longer than a connection takes to fail.
    if (scene.below(3) === 0) await pause(scene.between(0, 800))
    await server.start()
    scene.made('immediate stops of the server')
  }
  await crew
  await scene.comesToEnd()
}

async function cut(scene: Scene): Promise<void> {
  const { proxy } = scene.parts
  const crew = scene.crew(2).then(() => 'over' as const)
  for (let count = 0; count < 40; count++) {
    const moment = CUT_MOMENTS[scene.below(CUT_MOMENTS.length)] ?? 'during'
    const done = proxy.cutAtCommit(moment, 1 + scene.below(12))
    if ((await Promise.race([done, crew])) === 'over') break
    scene.made(`connections cut ${moment} a commit`)
  }
  await crew
  // Nobody is there any more for whom it was meant.
  void proxy.cutAtCommit('before', Infinity)
  await scene.comesToEnd()
}

async function disk(scene: Scene): Promise<void> {
  const { server } = scene.parts
  const crew = scene.crew(2)
  for (let count = 0; count < 2; count++) {
    await pause(scene.between(100, 600))
    if (!scene.isOn) break
    const call: WriteFault = scene.below(3) === 0 ? 'pwrite64' : 'fdatasync'
    const broken = new BrokenDisk(server, call)
    const endMs = performance.now() + 10_000
    while (broken.failures === 0 && scene.isOn && performance.now() < endMs) await pause(5)
    await pause(scene.between(0, 300))
    await broken.heal()
    // Unless its disk failed while it recovered from just that, it comes back by itself.
    await server.settled()
    if (!server.isRunning) await server.start()
    if (broken.failures > 0) scene.made(`EIO at ${call} of the server`)
  }
  await crew
  await scene.comesToEnd()
}

/** One of two is stopped for longer than its lease, while the other takes over; then it goes on. */
async function paused(scene: Scene): Promise<void> {
  const lives = [scene.live(), scene.live()]
  const crew = Promise.all(lives.map((life) => scene.keepAlive({}, life)))
  await scene.isAtWork()
  for (let count = 0; count < 3 && scene.isOn; count++) {
    await pause(scene.between(0, 250))
    const zombie = lives[scene.below(2)]?.child
    const isStopped = zombie?.exitCode === null && zombie.kill('SIGSTOP')
    await pause(LEASE_MS * 2 + scene.between(0, 400))
    zombie?.kill('SIGCONT')
    if (isStopped) scene.made('owners stopped for longer than their lease')
  }
  await crew
  await scene.comesToEnd()
}

/** Between one of two and the server nothing gets through, for longer than its lease. */
async function silent(scene: Scene): Promise<void> {
  const { server, database } = scene.parts
  const own = await PostgresProxy.listen(server.port)
  try {
    const crew = Promise.all([scene.crew(1, { address: own.urlOf(server.urlOf(database)) }), scene.crew(1)])
    await scene.isAtWork()
    for (let count = 0; count < 3 && scene.isOn; count++) {
      await pause(scene.between(0, 250))
      const isCutOff = own.connections > 0
      own.silenceAll(scene.below(3) === 0 ? 'answers' : 'both')
      await pause(LEASE_MS * 2 + scene.between(0, 600))
      const how = scene.below(2) === 0 ? 'late' : 'reset'
      own.heal(how)
      own.delayMs = scene.below(2) * 3
      const then = how === 'late' ? 'all of it arrived' : 'reset'
      if (isCutOff) scene.made(`networks silent for longer than a lease, then ${then}`)
    }
    await crew
  } finally {
    await own.close()
  }
  await scene.comesToEnd()
}

/** At a named point, or at any moment; alone, and then several at once. */
async function killed(scene: Scene): Promise<void> {
  const { scenario, random } = scene.parts
  for (let life = 0; life < 5; life++) {
    await killOne(scene)
    if (random() < 0.5) await scenario.look(true)
  }
  await Promise.all(Array.from({ length: 2 + scene.below(3) }, () => killOne(scene)))
  await scenario.look()
  await scene.comesToEnd()
}

async function killOne(scene: Scene): Promise<void> {
  const { random } = scene.parts
  const usual = KILL_POINTS.filter(({ verb }) => verb === 'transact' || verb === 'claim' || verb === 'create')
  const among = random() < 0.6 ? usual : KILL_POINTS
  const chosen = among[scene.below(among.length)]
  const isNamed = random() < 0.5 && chosen !== undefined
  const life = scene.live(isNamed ? { point: { ...chosen, nth: 1 + scene.below(25) } } : {})
  await Promise.race([life.ready, life.end.catch(() => undefined)])
  await Promise.race([pause(isNamed ? 1500 : scene.between(0, 250)), life.end.catch(() => undefined)])
  const wasAlive = life.child.exitCode === null && life.child.signalCode === null
  life.kill()
  if ((await scene.ends(life)) !== 'killed') return
  const isAt = isNamed && !wasAlive
  scene.made(isAt ? `processes killed ${chosen.moment} ${chosen.verb}` : 'processes killed at a random moment')
}
