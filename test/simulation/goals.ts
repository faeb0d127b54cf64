/**
 * The goals of the storm budget, each as something to measure and a limit to hold. Both the test suite and
 * `npm run storm` go through this list. The suite takes one seed and the short form, the command more seeds and the long
 * one. Imports the library.
 */
import type { PolicyInput } from 'reprise'
import { type ScenarioInput, simulate, type Subject } from 'reprise/simulate'
import { type Comparison, compare, TOLERANCE, type Trial } from './rule.js'
import { ADAPTIVE, NONE, PRESET, RECOMMENDED, STRICT, UNLIMITED } from './subjects.js'

export interface Finding {
  readonly goal: string
  readonly subject: string
  readonly what: string
  readonly figure: number
  /** The figure must not be above, or not below. */
  readonly limit: { readonly most: number } | { readonly least: number }
}

export function holds({ figure, limit }: Finding): boolean {
  return 'most' in limit ? figure <= limit.most : figure >= limit.least
}

/** How much of a goal is measured: all cases, or those that a test suite has time for. */
export type Extent = 'short' | 'long'

/**
 * In the short form every Nth case of a table. N has no divisor in common with the lengths of the lists that the cases are
 * made from, so each entry of each list still occurs.
 */
function everyNth<Case>(n: number, cases: readonly Case[], extent: Extent): readonly Case[] {
  return extent === 'long' ? cases : cases.filter((_, index) => index % n === 0)
}

const pairsOf = <A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] =>
  first.flatMap((a) => second.map((b) => [a, b] as const))

const CAPACITY = 1000
const LOAD = 0.75

/** In the short form half of the clients, with the calls that each makes, on half of the server. */
export function sized(scenario: ScenarioInput, extent: Extent): ScenarioInput {
  if (extent === 'long') return scenario
  const { clients = 100, capacity = CAPACITY } = scenario
  return { ...scenario, clients: Math.ceil(clients / 2), capacity: capacity / 2 }
}

type Scenarios = Readonly<Record<string, ScenarioInput>>

function sizedAll(scenarios: Scenarios, extent: Extent): Scenarios {
  return Object.fromEntries(Object.entries(scenarios).map(([name, scenario]) => [name, sized(scenario, extent)]))
}

function ratePerClient(clients: number): number {
  return (CAPACITY * LOAD) / clients
}

/** What a budget takes for its rate is an estimate over five seconds: the worst second may be above by its noise. */
const RATE_NOISE = 0.01

/** E1: a full outage is met with the load that is there anyway. */
function fullOutage(seed: number, extent: Extent): Finding[] {
  const faults = ['hang', 'refuse'] as const
  const finding = (what: string, subject: Subject, figure: number, most: number): Finding => ({
    goal: 'E1',
    subject: subject.name,
    what,
    figure,
    limit: { most },
  })
  const usual = pairsOf(pairsOf(faults, [1, 10, 100, 150]), [ADAPTIVE, STRICT, RECOMMENDED, PRESET])
  const tiny = pairsOf(faults, [ADAPTIVE, RECOMMENDED, PRESET])
  return [
    ...everyNth(5, usual, extent).flatMap(([[fault, clients], subject]) => {
      const { amplification } = simulate({ fault, clients, after: '10s' }, subject, seed)
      const worst = subject === STRICT ? 1.02 : 1 + RATE_NOISE + Math.max(0.1, 1 / ratePerClient(clients))
      return [
        finding(`${fault}, ${clients} clients: mean amplification`, subject, amplification.mean, 1.02),
        finding(`${fault}, ${clients} clients: worst second`, subject, amplification.worst, worst),
      ]
    }),
    ...tiny.map(([fault, subject]) => {
      const { mean } = simulate(sized({ fault, clients: 1000, after: '10s' }, extent), subject, seed).amplification
      return finding(`${fault}, 1000 tiny clients: mean amplification`, subject, mean, 1.1)
    }),
  ]
}

/** E2: transient failures disappear as they do with unlimited retries. */
function transientErrors(seed: number, extent: Extent): Finding[] {
  const cases = pairsOf(pairsOf([0.01, 0.05, 0.2], [10, 100, 150, 500]), [ADAPTIVE, RECOMMENDED, PRESET])
  const most = new Map<string, number>()
  return everyNth(5, cases, extent).map(([[amount, clients], subject]): Finding => {
    const scenario = sized({ fault: 'errors', amount, clients, during: '120s', after: '10s' }, extent)
    const what = `${amount * 100} % errors, ${clients} clients: success`
    const unlimited = most.get(what) ?? simulate(scenario, UNLIMITED, seed).success.during
    most.set(what, unlimited)
    const margin = ratePerClient(clients) >= 5 ? 0.0001 : 0.001
    const { success } = simulate(scenario, subject, seed)
    return { goal: 'E2', subject: subject.name, what, figure: success.during, limit: { least: unlimited - margin } }
  })
}

/** E4: what a server can still do in a brown-out is used. */
function brownOut(seed: number, extent: Extent): Finding[] {
  const faults = [
    { fault: 'capacity', amount: 0.5 },
    { fault: 'slow', amount: 3 },
  ] as const
  return faults.flatMap((fault) =>
    [1, 10, 100].flatMap((clients) =>
      [RECOMMENDED, PRESET].map((subject): Finding => {
        const { goodput } = simulate(sized({ ...fault, clients, after: '10s' }, extent), subject, seed)
        const what = `${fault.fault} ${fault.amount}, ${clients} clients: share of the possible`
        return { goal: 'E4', subject: subject.name, what, figure: goodput ?? 0, limit: { least: 0.75 } }
      }),
    ),
  )
}

/** The share of calls that a hedge at the 98th percentile copies, in a scenario in which as many answers are slow. */
const HEDGED_SHARE = 0.02

/** How many answers of a run are slow is chance: with this many calls the share is above its mean by three standard errors. */
function mostHedged(calls: number): number {
  return HEDGED_SHARE + 3 * Math.sqrt((HEDGED_SHARE * (1 - HEDGED_SHARE)) / calls)
}

/** E7: a hedge cuts the tail for a few attempts, and none are extra in an outage. */
function hedging(seed: number): Finding[] {
  const scenario: ScenarioInput = {
    fault: 'none',
    serviceShape: 'long-tail',
    serviceTime: '28ms',
    load: 0.3,
    clients: 10,
    during: '60s',
    after: '10s',
  }
  const hedged: Subject = {
    ...ADAPTIVE,
    name: 'hedged',
    policy: { ...(ADAPTIVE.policy as PolicyInput), hedge: { percentile: 98, budget: 'share' } },
  }
  const plain = simulate(scenario, ADAPTIVE, seed)
  const quick = simulate(scenario, hedged, seed)
  const calls = quick.seconds.calls.reduce((sum, count) => sum + count, 0)
  const finding = (what: string, figure: number, limit: Finding['limit']): Finding => ({
    goal: 'E7',
    subject: hedged.name,
    what,
    figure,
    limit,
  })
  const outages = (['hang', 'refuse'] as const).map((fault) => {
    const { mean } = simulate({ fault, clients: 10, after: '10s' }, hedged, seed).amplification
    return finding(`${fault}: mean amplification`, mean, { most: 1.02 })
  })
  return [
    finding('p99 against unhedged', quick.latencyMs.p99 / plain.latencyMs.p99, { most: 0.4 }),
    finding('extra attempts per call', quick.extra - plain.extra, { most: mostHedged(calls) }),
    ...outages,
  ]
}

/** Base latency, what it is multiplied by, and the shape of the answers: some end past half of the attempt timeout. */
const SHIFTS = [
  ['exponential', 20, 3],
  ['exponential', 20, 5],
  ['exponential', 20, 10],
  ['exponential', 20, 20],
  ['fixed', 20, 20],
  ['fixed', 50, 10],
  ['fixed', 50, 15],
  ['lognormal', 20, 20],
  ['long-tail', 50, 15],
] as const

/** The same for the preset, whose attempts have three times as long. */
const LONG_SHIFTS = [
  ['exponential', 20, 10],
  ['exponential', 50, 20],
  ['fixed', 200, 10],
  ['fixed', 100, 15],
  ['long-tail', 200, 10],
] as const

/** E8: a dependency that has become slow for good is no outage. */
function latencyShift(seed: number, extent: Extent): Finding[] {
  const measure = (subject: Subject, bare: Subject, shifts: typeof SHIFTS | typeof LONG_SHIFTS): Finding[] =>
    everyNth(2, pairsOf<(typeof shifts)[number], number>(shifts, [1, 10, 100]), extent).map(
      ([[serviceShape, serviceTime, amount], clients]) => {
        const shift = { fault: 'slow', amount, serviceShape, serviceTime, clients, capacity: 10_000 } as const
        const scenario = sized({ ...shift, load: 0.5 / amount, during: '120s', after: '1s' }, extent)
        const least = simulate(scenario, bare, seed).success.during - 0.005
        const { success } = simulate(scenario, subject, seed)
        const what = `${serviceShape} ${serviceTime} ms ×${amount}, ${clients} clients: success`
        return { goal: 'E8', subject: subject.name, what, figure: success.during, limit: { least } }
      },
    )
  const bare: Subject = { name: 'none', policy: { ...(PRESET.policy as PolicyInput), attempts: 1 } }
  return [...measure(RECOMMENDED, NONE, SHIFTS), ...measure(PRESET, bare, LONG_SHIFTS)]
}

/** The time limits of the well-known policies here. */
const LIMITS: Omit<Trial, 'scenario'> = { attemptTimeoutMs: 1000, timeoutMs: 10_000 }

/** The findings of one named scenario. */
class Judged {
  readonly findings: Finding[] = []
  readonly comparison: Comparison
  private readonly goal: string
  private readonly name: string

  constructor(goal: string, name: string, trial: Trial, seed: number) {
    this.goal = goal
    this.name = name
    this.comparison = compare(trial, seed)
    this.add('success beside no retries', this.comparison.difference, { least: -TOLERANCE })
  }

  add(what: string, figure: number, limit: Finding['limit']): this {
    this.findings.push({ goal: this.goal, subject: RECOMMENDED.name, what: `${this.name}: ${what}`, figure, limit })
    return this
  }

  /** Back as soon as this, or as soon as without retries if that is later. Never is the longest time there is. */
  back(mostMs: number, orAsNone: boolean): this {
    const { none, ours } = this.comparison
    const most = orAsNone ? Math.max(mostMs, none.backMs ?? Infinity) : mostMs
    return this.add('ms until back', ours.backMs ?? Infinity, { most })
  }
}

const judgeAll = (
  goal: string,
  scenarios: Scenarios,
  seed: number,
  judge: (judged: Judged) => Judged,
  limits = LIMITS,
): Finding[] =>
  Object.entries(scenarios).flatMap(
    ([name, scenario]) => judge(new Judged(goal, name, { scenario, ...limits }, seed)).findings,
  )

/** The time before and after long trouble. */
const AROUND = { before: '30s', after: '60s' } as const

const LONG: Scenarios = {
  'capacity 5/8 for 150 s': { ...AROUND, fault: 'capacity', amount: 0.625, load: 0.85, during: '150s' },
  'slow ×1.5 for 240 s': { ...AROUND, fault: 'slow', amount: 1.5, load: 0.85, during: '240s' },
  'half the capacity for 150 s': { ...AROUND, fault: 'capacity', amount: 0.5, during: '150s' },
  'slow ×3 for 100 s, load 0.9, 10 clients': {
    ...AROUND,
    fault: 'slow',
    amount: 3,
    clients: 10,
    load: 0.9,
    during: '100s',
  },
  '1.05 × capacity for 200 s, 5 % errors': {
    ...AROUND,
    fault: 'overload',
    amount: 1.4,
    errorRate: 0.05,
    during: '200s',
  },
}

/** Of these all clients are simulated in the short form too: half of them differ more from seed to seed. */
const NEAR_THE_LIMIT: Scenarios = {
  'slow ×3 for 150 s, 3 calls/s per client': { ...AROUND, fault: 'slow', amount: 3, capacity: 400, during: '150s' },
}

/** E9: long trouble is met as well at its end as at its start. */
function longTrouble(seed: number, extent: Extent): Finding[] {
  const scenarios = { ...sizedAll(LONG, extent), ...NEAR_THE_LIMIT }
  return judgeAll('E9', scenarios, seed, (judged) => {
    const { ours } = judged.comparison
    return judged
      .add('share of the possible', ours.goodput ?? 0, { least: 0.75 })
      .add('success in the minute after', ours.success.after, { least: 0.97 })
      .back(5000, false)
  })
}

const COLD = { before: '1ms', after: '60s' } as const

/** E10: clients without history, before their dependency is there, in a fault, or all at once. */
function coldStart(seed: number): Finding[] {
  const scenarios: Scenarios = {
    'started 3 s before': { ...COLD, fault: 'hang', during: '3s' },
    'started 3 s before, load 0.9': { ...COLD, fault: 'hang', during: '3s', load: 0.9 },
    'started 10 s before, load 0.95': { ...COLD, fault: 'hang', during: '10s', load: 0.95 },
    'started 10 s before, refused, load 0.9': { ...COLD, fault: 'refuse', during: '10s', load: 0.9 },
    'started into a brown-out, load 0.9': { ...COLD, fault: 'capacity', amount: 0.6, during: '60s', load: 0.9 },
    'restarted in a hang, load 0.9': { fault: 'hang', before: '20s', restartAt: '40s', after: '60s', load: 0.9 },
    'restarted in a brown-out, load 0.9': {
      ...{ fault: 'capacity', amount: 0.6, before: '20s', during: '60s' },
      ...{ restartAt: '40s', after: '60s', load: 0.9 },
    },
    'deployed all at once, load 0.95': { fault: 'none', before: '20s', restartAt: '25s', after: '60s', load: 0.95 },
  }
  return judgeAll('E10', scenarios, seed, (judged) => judged.back(5000, true))
}

/** E11: a shard or an endpoint is down behind the budget of all. */
function partialOutage(seed: number): Finding[] {
  const measure = (scenarios: Scenarios, most: number): Finding[] =>
    judgeAll('E11', scenarios, seed, (judged) => {
      const { parts } = judged.comparison.ours
      return judged
        .add('attempts per call to it', parts?.hit.amplification ?? Infinity, { most })
        .add('success of the others', parts?.rest.success ?? 0, { least: 0.995 })
        .back(10_000, false)
    })
  const shard: ScenarioInput = { fault: 'hang', faultShare: 0.1, during: '60s', after: '60s' }
  const shared = {
    '1 of 10 shards hangs': shard,
    '1 of 10 shards refuses': { ...shard, fault: 'refuse' },
    '1 of 10 shards hangs, 10 clients': { ...shard, clients: 10 },
    '5 % of the traffic hangs': { ...shard, faultShare: 0.05 },
  } as const
  return [
    ...measure(shared, 1.8),
    ...measure({ '1 of 10 shards hangs, a budget per key': { ...shard, keyed: true } }, 1.1),
  ]
}

/** E12: many calls at once, which an idle server can work off in less than half of the attempt timeout. */
function fanOut(seed: number): Finding[] {
  const idle: ScenarioInput = { fault: 'none', before: '30s', during: '10s', after: '10s', load: 0.001 }
  const scenarios = {
    '500 calls at once': { ...idle, burst: 500, clients: 1, capacity: 1250, serviceTime: '50ms' },
    '2 000 calls at once, 100 clients': { ...idle, burst: 2000, capacity: 5000, serviceTime: '50ms', load: 0.02 },
    '10 000 calls at once': { ...idle, burst: 10_000, clients: 1, capacity: 25_000, serviceTime: '50ms' },
    '1 000 calls at once beside others': { ...idle, burst: 1000, clients: 10, capacity: 5000, load: 0.5 },
  } as const
  const quick = { '1 000 calls at once, 0.5 s': { ...idle, burst: 1000, clients: 1, capacity: 5000 } } as const
  return [
    ...judgeAll('E12', scenarios, seed, (judged) => judged),
    ...judgeAll('E12', quick, seed, (judged) => judged, { attemptTimeoutMs: 500, timeoutMs: 5000 }),
  ]
}

/** The rule with the preset's own attempt timeout, and without any. */
function otherLimits(seed: number, extent: Extent): Finding[] {
  const scenarios: Scenarios = {
    hang: { fault: 'hang', after: '60s' },
    'brown-out of 150 s': { fault: 'capacity', amount: 0.625, load: 0.85, during: '150s', after: '60s' },
    'cold start': { ...COLD, fault: 'hang', during: '3s', load: 0.9 },
    'a shard hangs': { fault: 'hang', faultShare: 0.1, during: '60s', after: '60s' },
    'a shard hangs, a budget per key': { fault: 'hang', faultShare: 0.1, keyed: true, during: '60s', after: '60s' },
  }
  return [3000, undefined].flatMap((attemptTimeoutMs) => {
    const named = Object.entries(scenarios).map(([name, scenario]) => [
      `${name}, ${attemptTimeoutMs ?? 'no'} ms`,
      scenario,
    ])
    return judgeAll('rule', sizedAll(Object.fromEntries(named), extent), seed, (judged) => judged, {
      attemptTimeoutMs,
      timeoutMs: 10_000,
    })
  })
}

/** What clients of 0.1 calls a second reach at 20 % errors on their own: the goal of 99.9 % needs a shared budget. */
const TINY_ALONE = 0.93

/** E13: a thousand clients with one call in ten seconds each. */
function tinyClients(seed: number): Finding[] {
  const tiny: ScenarioInput = { clients: 1000, capacity: 133, before: '120s', after: '60s' }
  const outage = judgeAll('E13', { 'hang of 8 s': { ...tiny, fault: 'hang', during: '8s' } }, seed, (judged) => {
    const { none, ours } = judged.comparison
    return judged
      .add('mean amplification', ours.amplification.mean, { most: 1.1 })
      .add('success in the minute after', ours.success.after, { least: none.success.after })
  })
  const errors: ScenarioInput = { ...tiny, before: '300s', fault: 'none', errorRate: 0.2 }
  const finding = (what: string, clients: number, least: number): Finding => ({
    goal: 'E13',
    subject: RECOMMENDED.name,
    what: `20 % errors for five minutes, ${what}: success`,
    figure: simulate({ ...errors, clients }, RECOMMENDED, seed).success.throughout,
    limit: { least },
  })
  return [...outage, finding('a budget of their own each', 1000, TINY_ALONE), finding('a budget they share', 1, 0.999)]
}

export const GOALS: Readonly<Record<string, (seed: number, extent: Extent) => Finding[]>> = {
  'E1 full outage': fullOutage,
  'E2 transient errors': transientErrors,
  'E4 brown-out': brownOut,
  'E7 hedging': hedging,
  'E8 latency shift': latencyShift,
  'E9 long trouble': longTrouble,
  'E10 cold start': coldStart,
  'E11 partial outage': partialOutage,
  'E12 fan-out': fanOut,
  'E13 tiny clients': tinyClients,
  'rule with other time limits': otherLimits,
}
