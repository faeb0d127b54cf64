/**
 * Many scenarios, each with its kills, until so many processes were killed: at named points, at random moments, several
 * processes at once, and paused for longer than their lease. Imports the scenarios.
 */
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import { KILL_POINTS, type KillPoint } from './kill-points.js'
import type { LoadPlan } from './load-plan.js'
import type { End, LoadProcess, Program } from './processes.js'
import { type Findings, Scenario } from './scenario.js'

const KINDS_OF_SCENARIO = ['named', 'random', 'crowd', 'paused', 'flapping'] as const
export type ScenarioKind = (typeof KINDS_OF_SCENARIO)[number]

export interface CampaignOptions {
  readonly program: Program
  readonly directory: string
  readonly seed: number
  readonly kills: number
  /** Scenarios at a time. */
  readonly lanes: number
  /** Of one ledger, at named points: with fewer, more of them come far, since only a fresh ledger has much to do. */
  readonly namedKills: number
  readonly onScenario?: (tally: Tally) => void
}

export interface Tally {
  kills: number
  pauses: number
  scenarios: number
  lives: number
  tasks: number
  starts: number
  again: number
  /** Of gates, by hand. */
  changes: number
  readonly killsBy: Map<string, number>
  readonly scenariosBy: Map<ScenarioKind, number>
  /** Named places, as in `after transact 7`, at which a process was killed. */
  readonly places: Set<string>
  /** All there are in a life that nobody disturbs. */
  allPlaces: number
  readonly faults: string[]
}

type Random = () => number

/** Longer than any life; one that has not ended by then never will. */
const MAX_LIFE_MS = 60_000
const KILLS_OF_ONE = 6
const LEASE_WHEN_PAUSED_MS = 300

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** How it ended is somebody else's to ask. */
const over = (life: LoadProcess): Promise<string> => life.end.catch(() => 'ended')
const below = (random: Random, limit: number): number => Math.floor(random() * limit)

/** Of twelve scenarios seven are at named points. */
function kindOf(index: number): ScenarioKind {
  if (index % 12 === 5) return 'paused'
  if (index % 12 === 11) return 'flapping'
  if (index % 12 === 3) return 'crowd'
  return index % 6 === 1 ? 'random' : 'named'
}

export class Campaign {
  readonly tally: Tally = {
    kills: 0,
    pauses: 0,
    scenarios: 0,
    lives: 0,
    tasks: 0,
    starts: 0,
    again: 0,
    changes: 0,
    killsBy: new Map(),
    scenariosBy: new Map(),
    places: new Set(),
    allPlaces: 0,
    faults: [],
  }
  private readonly options: CampaignOptions
  private deck: KillPoint[] = []
  private counts: Readonly<Record<string, number>> = {}
  private next = 0

  constructor(options: CampaignOptions) {
    this.options = options
  }

  async run(): Promise<Tally> {
    await this.calibrate()
    await Promise.all(Array.from({ length: this.options.lanes }, () => this.lane()))
    return this.tally
  }

  /** A life that nobody disturbs: how often it passes each point. */
  private async calibrate(): Promise<void> {
    const scenario = this.scenario('undisturbed', 0)
    await this.comesToEnd(scenario, [this.live(scenario, {})])
    this.counts = (await this.conclude(scenario, 'undisturbed')).passed
    this.tally.allPlaces = this.places().length
  }

  private places(): KillPoint[] {
    return KILL_POINTS.flatMap(({ verb, moment }) =>
      Array.from({ length: this.counts[`${moment} ${verb}`] ?? 0 }, (_, index) => ({ verb, moment, nth: index + 1 })),
    )
  }

  private async lane(): Promise<void> {
    while (this.tally.kills < this.options.kills) {
      const index = this.next++
      const kind = kindOf(index)
      const name = `${kind}-${index}`
      const scenario = this.scenario(name, index, kind)
      const random = seededRandom(this.options.seed * 7919 + index)
      if (kind === 'named') await this.named(scenario, random)
      else if (kind === 'random') await this.random(scenario, random)
      else if (kind === 'crowd') await this.crowd(scenario, random)
      else if (kind === 'paused') await this.paused(scenario, random)
      else await this.flapping(scenario, random)
      await this.conclude(scenario, name)
      this.tally.scenariosBy.set(kind, (this.tally.scenariosBy.get(kind) ?? 0) + 1)
      this.options.onScenario?.(this.tally)
    }
  }

  private scenario(name: string, index: number, kind?: ScenarioKind): Scenario {
    const { program, directory, seed } = this.options
    const longer = kind === 'paused' || kind === 'flapping' ? { leaseMs: LEASE_WHEN_PAUSED_MS, workMs: 60 } : {}
    return new Scenario({ program, directory, name, seed: seed * 1000 + index, ...longer })
  }

  private live(scenario: Scenario, plan: Partial<LoadPlan>): LoadProcess {
    this.tally.lives++
    return scenario.start(plan)
  }

  private async conclude(scenario: Scenario, name: string): Promise<Findings> {
    const findings = await scenario.check()
    const { tally } = this
    tally.scenarios++
    tally.tasks += findings.tasks
    tally.starts += findings.starts
    tally.again += findings.again
    tally.changes += findings.changes
    tally.faults.push(...findings.faults.map((fault) => `${name}: ${fault}`))
    return findings
  }

  private killed(how: string, count = 1): void {
    this.tally.kills += count
    this.tally.killsBy.set(how, (this.tally.killsBy.get(how) ?? 0) + count)
  }

  /** Every place once, in an order that the seed says, before any comes twice; none that lies deeper. */
  private deal(random: Random, deepest: number): KillPoint {
    const found = this.deck.findIndex(({ verb, moment, nth }) => {
      return nth === 1 || nth <= deepest * (this.counts[`${moment} ${verb}`] ?? 1)
    })
    const [place] = found < 0 ? [] : this.deck.splice(found, 1)
    if (place !== undefined) return place
    const places = this.places().map((one) => ({ one, order: random() }))
    this.deck.push(...places.toSorted((a, b) => a.order - b.order).map(({ one }) => one))
    return this.deal(random, deepest)
  }

  /** The first life may come far; the later, the less there is left to do. */
  private async named(scenario: Scenario, random: Random): Promise<void> {
    for (let life = 0; life < this.options.namedKills; life++) {
      const point = this.deal(random, life === 0 ? 1 : 0.4 / life)
      const end = await this.ends(this.live(scenario, { point }))
      if (end !== 'killed') break
      this.diedAt(point)
      if (random() < 0.5) await scenario.look(true)
    }
    await this.comesToEnd(scenario, [this.live(scenario, { calm: true })])
  }

  private diedAt({ verb, moment, nth }: KillPoint): void {
    this.killed(`${moment} ${verb}`)
    this.tally.places.add(`${moment} ${verb} ${nth}`)
  }

  private async random(scenario: Scenario, random: Random): Promise<void> {
    for (let life = 0; life < KILLS_OF_ONE; life++) {
      await this.killSometime(this.live(scenario, {}), random)
      if (random() < 0.5) await scenario.look(true)
    }
    await this.comesToEnd(scenario, [this.live(scenario, { calm: true })])
  }

  /** While it starts, or while it works. */
  private async killSometime(life: LoadProcess, random: Random): Promise<void> {
    if (random() < 0.8) await life.ready
    await Promise.race([pause(random() * 120), over(life)])
    life.kill()
    if ((await this.ends(life)) === 'killed') this.killed('at a random moment')
  }

  /** Two to eight at once, all killed, and again; then as many that come to the end. */
  private async crowd(scenario: Scenario, random: Random): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const ends = Array.from({ length: 2 + below(random, 7) }, (_, index) => {
        if (index % 2 === 1) return this.killSometime(this.live(scenario, {}), random)
        const point = this.deal(random, 0.3)
        return this.killLatest(this.live(scenario, { point }), point, random)
      })
      await Promise.all(ends)
      await scenario.look()
    }
    const last = Array.from({ length: 2 + below(random, 7) }, () => this.live(scenario, { calm: true }))
    await this.comesToEnd(scenario, last)
  }

  /** At its point, or a while later if others have done its work. */
  private async killLatest(life: LoadProcess, point: KillPoint, random: Random): Promise<void> {
    const first = await Promise.race([over(life), pause(500 + random() * 500)])
    life.kill()
    const end = await this.ends(life)
    if (end !== 'killed') return
    if (first === 'killed') this.diedAt(point)
    else this.killed('at a random moment')
  }

  /** One is stopped for longer than its lease, while others take over; then it goes on. */
  private async paused(scenario: Scenario, random: Random): Promise<void> {
    const zombie = this.live(scenario, {})
    await zombie.ready
    await pause(random() * 100)
    zombie.child.kill('SIGSTOP')
    this.tally.pauses++
    const heir = this.live(scenario, {})
    // One that was stopped within a transaction holds the lock of the file: nobody gets past it, and nobody is ready.
    await Promise.race([heir.ready, pause(1000)])
    await Promise.race([over(heir), pause(LEASE_WHEN_PAUSED_MS * 2 + random() * 300)])
    zombie.child.kill('SIGCONT')
    if (random() < 0.5) {
      heir.kill()
      if ((await this.ends(heir)) === 'killed') this.killed('heir of a paused one')
    }
    await this.comesToEnd(scenario, [zombie, heir, this.live(scenario, { calm: true })])
  }

  /** Several that are stopped again and again, and take over from each other though all of them live. */
  private async flapping(scenario: Scenario, random: Random): Promise<void> {
    const lives = Array.from({ length: 3 + below(random, 3) }, () => this.live(scenario, {}))
    for (let stop = 0; stop < 6; stop++) {
      const life = lives[below(random, lives.length)]
      life?.child.kill('SIGSTOP')
      this.tally.pauses++
      await pause(LEASE_WHEN_PAUSED_MS * (0.5 + random()))
      life?.child.kill('SIGCONT')
    }
    await this.comesToEnd(scenario, lives)
    await this.comesToEnd(scenario, [this.live(scenario, { calm: true })])
  }

  private async ends(life: LoadProcess): Promise<End | 'hung'> {
    let timer: NodeJS.Timeout | undefined
    const hung = new Promise<'hung'>((resolve) => {
      timer = setTimeout(() => resolve('hung'), MAX_LIFE_MS)
    })
    try {
      return await Promise.race([life.end, hung])
    } catch (error) {
      this.tally.faults.push((error as Error).message)
      return 'ended'
    } finally {
      clearTimeout(timer)
    }
  }

  private async comesToEnd(scenario: Scenario, lives: readonly LoadProcess[]): Promise<void> {
    const ends = await Promise.all(lives.map((life) => this.ends(life)))
    if (!ends.includes('hung')) return
    scenario.faults.push('does not come to an end')
    for (const life of lives) life.kill()
    await Promise.all(lives.map((life) => this.ends(life)))
  }
}
