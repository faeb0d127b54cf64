/**
 * Looks for scenarios that break the rule: at random, and from the worst ones found by small changes, keeping what is
 * worse. A scenario is a list of numbers from 0 to 1, one for each of its properties, so that a small change of any of
 * them is a small change of the scenario. Imports the rule.
 */
import type { ScenarioInput } from 'reprise/simulate'
import { seededRandom } from 'reprise/testing'
import { judgeTrial, type Trial, type Verdict } from './rule.js'

/** Inside: where the rule is promised. Outside: everything. */
export type Domain = 'inside' | 'outside'

type Genes = readonly number[]

const FAULTS = ['hang', 'refuse', 'capacity', 'slow', 'errors', 'flap', 'overload', 'none'] as const
const SHAPES = ['exponential', 'fixed', 'lognormal', 'long-tail'] as const
/** As many as a scenario takes, and some. */
const GENES = 32

/** Calls that count in one run: enough to tell half a point from chance. */
const CALLS = 30_000
const AFTER_MS = 60_000
/** In the domain of the rule a budget sees at least this many calls a second. */
const MIN_RATE = 1
/** In the domain an answer takes at most a third of the attempt timeout by nature, and in a slow-down it still fits into it. */
const USUAL_SHARE = 1 / 3
const SLOW_SHARE = 0.7
/** Above this load, in the domain, a budget sees at least this many calls in an attempt timeout. */
const NEARLY_FULL = 0.9
const MIN_CALLS_NEARLY_FULL = 5

/** Reads a list of numbers as a scenario: each call takes the next. */
class GeneReader {
  private readonly genes: Genes
  private next = 0

  constructor(genes: Genes) {
    this.genes = genes
  }

  /** From 0 to 1. */
  share(): number {
    return this.genes[this.next++] ?? 0
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.share()
  }

  /** Every factor is as likely as any other. */
  scale(least: number, most: number): number {
    return least * (most / least) ** this.share()
  }

  oneOf<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.share() * values.length)] ?? values[0]
  }

  /** True for this share of the scenarios, with a value that goes with it. */
  sometimes(share: number, least: number, most: number): number | undefined {
    const isOn = this.share() < share
    const value = this.between(least, most)
    return isOn ? value : undefined
  }
}

function decode(genes: Genes, domain: Domain): Trial {
  const read = new GeneReader(genes)
  const isInside = domain === 'inside'
  const fault = read.oneOf(FAULTS)
  const duringMs = Math.round(read.scale(2000, 300_000))
  const attemptTimeoutMs = Math.round(read.scale(200, 5000))
  const timeoutMs = Math.round(attemptTimeoutMs * read.scale(isInside ? 2 : 1, 20))
  const load = read.between(0.3, 0.97)
  const callsPerSecond = CALLS / ((duringMs + AFTER_MS) / 1000)
  const capacity = callsPerSecond / load
  const leastRate =
    load > NEARLY_FULL ? Math.max(MIN_RATE, (MIN_CALLS_NEARLY_FULL * 1000) / attemptTimeoutMs) : MIN_RATE
  const mostClients = Math.min(2000, Math.max(1, callsPerSecond / (isInside ? leastRate : 0.05)))
  const clients = Math.max(1, Math.floor(read.scale(1, mostClients)))
  // At least one worker: fewer would make the service time longer than asked for.
  const leastServiceMs = Math.max(2, 1000 / capacity)
  const slowness = fault === 'slow' ? read.scale(1.2, 20) : (read.share(), 1)
  const mostServiceMs = Math.max(
    leastServiceMs,
    attemptTimeoutMs * (isInside ? Math.min(USUAL_SHARE, SLOW_SHARE / slowness) : 1.4),
  )
  const serviceTime = read.scale(leastServiceMs, mostServiceMs)
  const coldStart = read.share() < 0.3
  const warmMs = Math.round(read.scale(5000, 150_000))
  const restartShare = read.sometimes(0.15, 0.1, 0.9)
  const faultShare = read.sometimes(0.2, 0.05, 0.4)
  // In the domain the calls of a budget end at one queue.
  const isKeyed = read.share() < 0.3 || isInside
  const burst = read.sometimes(0.15, 50, 5000)
  const neighbours = read.sometimes(0.15, 0.1, 0.6)
  const amounts = {
    capacity: read.between(0.1, 0.95),
    errors: read.between(0.02, 0.9),
    overload: read.scale(1.05, 3),
    slow: slowness,
  }
  const beforeMs = coldStart ? 1 : warmMs
  const scenario: ScenarioInput = {
    fault,
    ...(fault in amounts && { amount: amounts[fault as keyof typeof amounts] }),
    clients,
    load,
    capacity,
    serviceTime,
    serviceShape: read.oneOf(SHAPES),
    queue: Math.round(read.scale(100, 10_000)),
    errorRate: read.sometimes(0.3, 0.005, 0.2) ?? 0,
    before: beforeMs,
    during: duringMs,
    after: AFTER_MS,
    ...(restartShare !== undefined && { restartAt: Math.round(beforeMs + duringMs * restartShare) }),
    ...(faultShare !== undefined && { faultShare, keyed: isKeyed }),
    ...(burst !== undefined && { burst: Math.round(burst) }),
    ...(neighbours !== undefined && { neighbours }),
  }
  return { scenario, attemptTimeoutMs, timeoutMs }
}

export interface Found {
  readonly genes: Genes
  readonly seed: number
  readonly verdict: Verdict
}

/** One random scenario. */
export function tryAtRandom(seed: number, domain: Domain): Found {
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1))
  const genes = Array.from({ length: GENES }, random)
  return { genes, seed, verdict: judgeTrial(decode(genes, domain), seed) }
}

/** Changes one scenario of this difference step by step towards the worse. */
export function climb(from: Pick<Found, 'genes' | 'seed'>, difference: number, steps: number, domain: Domain): Found[] {
  const random = seededRandom(from.seed ^ 0x2545f491)
  const tried: Found[] = []
  let worst = { genes: from.genes, difference }
  for (let step = 0; step < steps; step++) {
    const genes: Genes = worst.genes.map((gene) => (random() < 0.2 ? nudged(gene, random) : gene))
    const seed = from.seed + step + 1
    const verdict = judgeTrial(decode(genes, domain), seed)
    tried.push({ genes, seed, verdict })
    if (verdict.difference < worst.difference) worst = { genes, difference: verdict.difference }
  }
  return tried
}

function nudged(gene: number, random: () => number): number {
  return Math.min(1, Math.max(0, gene + (random() - 0.5) * 0.4))
}
