/**
 * Looks for scenarios that break the rule: at random, and from the worst ones found by small changes, keeping what is
 * worse. A scenario is a list of numbers from 0 to 1, one for each of its properties, so that a small change of any of
 * them is a small change of the scenario. Imports the rule.
 */
import type { ScenarioInput } from 'reprise/simulate'
import { seededRandom } from 'reprise/testing'
import { judgeTrial, lateByNature, type Trial, type Verdict } from './rule.js'

/** Inside: where the rule is promised. Outside: everything. */
export type Domain = 'inside' | 'outside'

type Genes = readonly number[]

const FAULTS = ['hang', 'refuse', 'capacity', 'slow', 'errors', 'flap', 'overload', 'none'] as const
const SHAPES = ['exponential', 'fixed', 'lognormal', 'long-tail'] as const
/** As many as a scenario takes, and some. */
const GENES = 32

/** Calls that count in one run: enough to tell half a point from chance. */
const CALLS = 21_000
const AFTER_MS = 60_000
/** In the domain of the rule a budget sees at least this many calls a second. */
const MIN_RATE = 1
/** In the domain fewer attempts than this are late while nothing is wrong. */
const LATE_BY_NATURE = 0.25
/** A deadline is at least this many attempt timeouts. */
const MIN_TIMEOUTS = 2

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
  const timeoutMs = Math.round(attemptTimeoutMs * read.scale(isInside ? MIN_TIMEOUTS : 1, 20))
  const load = read.between(0.3, 0.97)
  const callsPerSecond = CALLS / ((duringMs + AFTER_MS) / 1000)
  const capacity = callsPerSecond / load
  const mostClients = Math.min(2000, Math.max(1, callsPerSecond / (isInside ? MIN_RATE : 0.05)))
  const clients = Math.max(1, Math.floor(read.scale(1, mostClients)))
  // At least one worker: fewer would make the service time longer than asked for.
  const leastServiceMs = Math.max(2, 1000 / capacity)
  const slowness = fault === 'slow' ? read.scale(1.2, 20) : (read.share(), 1)
  const mostServiceMs = Math.max(leastServiceMs, attemptTimeoutMs * (isInside ? 1 : 1.4))
  const serviceTime = read.scale(leastServiceMs, mostServiceMs)
  const coldStart = read.share() < 0.3
  const warmMs = Math.round(read.scale(5000, 150_000))
  const restartShare = read.sometimes(0.15, 0.1, 0.9)
  const faultShare = read.sometimes(0.2, 0.05, 0.4)
  const isKeyed = read.share() < 0.3
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

/** Whether the rule is promised for it: a budget sees enough calls, and attempts are seldom late while nothing is wrong. */
function isInDomain(trial: Trial, seed: number): boolean {
  const { load = 0, capacity = 0, clients = 1, faultShare = 1, keyed = false } = trial.scenario
  const smallestPart = keyed ? Math.min(faultShare, 1 - faultShare) : 1
  return (load * capacity * smallestPart) / clients >= MIN_RATE && lateByNature(trial, seed) < LATE_BY_NATURE
}

/** A trial of the domain, or none if these numbers lead out of it. */
function trialOf(genes: Genes, domain: Domain, seed: number): Trial | undefined {
  const trial = decode(genes, domain)
  return domain === 'outside' || isInDomain(trial, seed) ? trial : undefined
}

/** One random scenario of the domain. */
export function tryAtRandom(seed: number, domain: Domain): Found {
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1))
  for (;;) {
    const genes = Array.from({ length: GENES }, random)
    const trial = trialOf(genes, domain, seed)
    if (trial !== undefined) return { genes, seed, verdict: judgeTrial(trial, seed) }
  }
}

/** Changes one scenario of this difference step by step towards the worse. Changes that lead out of the domain are left out. */
export function climb(from: Pick<Found, 'genes' | 'seed'>, difference: number, steps: number, domain: Domain): Found[] {
  const random = seededRandom(from.seed ^ 0x2545f491)
  const tried: Found[] = []
  let worst = { genes: from.genes, difference }
  for (let step = 0; step < steps; step++) {
    const genes: Genes = worst.genes.map((gene) => (random() < 0.2 ? nudged(gene, random) : gene))
    const seed = from.seed + step + 1
    const trial = trialOf(genes, domain, seed)
    if (trial === undefined) continue
    const verdict = judgeTrial(trial, seed)
    tried.push({ genes, seed, verdict })
    if (verdict.difference < worst.difference) worst = { genes, difference: verdict.difference }
  }
  return tried
}

function nudged(gene: number, random: () => number): number {
  return Math.min(1, Math.max(0, gene + (random() - 0.5) * 0.4))
}
