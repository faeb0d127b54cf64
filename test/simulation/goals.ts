/**
 * The goals of the storm budget, each as something to measure and a limit to hold. Both the test suite and
 * `npm run storm` go through this list; they differ in how many seeds they take. Imports the library.
 */
import type { PolicyInput } from 'reprise'
import { type ScenarioInput, simulate, type Subject } from 'reprise/simulate'
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

const CAPACITY = 1000
const LOAD = 0.75

function ratePerClient(clients: number): number {
  return (CAPACITY * LOAD) / clients
}

/** What a budget takes for its rate is an estimate over five seconds: the worst second may be above by its noise. */
const RATE_NOISE = 0.01

/** E1: a full outage is met with the load that is there anyway. */
export function fullOutage(seed: number): Finding[] {
  const findings: Finding[] = []
  for (const fault of ['hang', 'refuse'] as const) {
    for (const clients of [1, 10, 100, 150]) {
      for (const subject of [ADAPTIVE, STRICT, RECOMMENDED, PRESET]) {
        const { amplification } = simulate({ fault, clients, after: '10s' }, subject, seed)
        const worst = subject === STRICT ? 1.02 : 1 + RATE_NOISE + Math.max(0.1, 1 / ratePerClient(clients))
        const at = (what: string, figure: number, most: number): Finding => ({
          goal: 'E1',
          subject: subject.name,
          what: `${fault}, ${clients} clients: ${what}`,
          figure,
          limit: { most },
        })
        findings.push(at('mean amplification', amplification.mean, 1.02))
        findings.push(at('worst second', amplification.worst, worst))
      }
    }
    for (const subject of [ADAPTIVE, RECOMMENDED, PRESET]) {
      const { amplification } = simulate({ fault, clients: 1000, after: '10s' }, subject, seed)
      const what = `${fault}, 1000 tiny clients: mean amplification`
      findings.push({ goal: 'E1', subject: subject.name, what, figure: amplification.mean, limit: { most: 1.1 } })
    }
  }
  return findings
}

/** E2: transient failures disappear as they do with unlimited retries. */
export function transientErrors(seed: number): Finding[] {
  return [0.01, 0.05, 0.2].flatMap((amount) =>
    [10, 100, 150, 500].flatMap((clients) => {
      const scenario: ScenarioInput = { fault: 'errors', amount, clients, during: '120s', after: '10s' }
      const most = simulate(scenario, UNLIMITED, seed).success.during
      const margin = ratePerClient(clients) >= 5 ? 0.0001 : 0.001
      return [ADAPTIVE, RECOMMENDED, PRESET].map((subject): Finding => {
        const { success } = simulate(scenario, subject, seed)
        const what = `${amount * 100} % errors, ${clients} clients: success`
        return { goal: 'E2', subject: subject.name, what, figure: success.during, limit: { least: most - margin } }
      })
    }),
  )
}

/** E4: what a server can still do in a brown-out is used. */
export function brownOut(seed: number): Finding[] {
  const faults = [
    { fault: 'capacity', amount: 0.5 },
    { fault: 'slow', amount: 3 },
  ] as const
  return faults.flatMap((fault) =>
    [1, 10, 100].flatMap((clients) =>
      [RECOMMENDED, PRESET].map((subject): Finding => {
        const { goodput } = simulate({ ...fault, clients, after: '10s' }, subject, seed)
        const what = `${fault.fault} ${fault.amount}, ${clients} clients: share of the possible`
        return { goal: 'E4', subject: subject.name, what, figure: goodput ?? 0, limit: { least: 0.75 } }
      }),
    ),
  )
}

/** E7: a hedge cuts the tail for a few attempts, and none are extra in an outage. */
export function hedging(seed: number): Finding[] {
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
    finding('extra attempts per call', quick.extra - plain.extra, { most: 0.02 }),
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
export function latencyShift(seed: number): Finding[] {
  const measure = (
    subject: Subject,
    bare: Subject,
    [serviceShape, serviceTime, amount]: (typeof SHIFTS | typeof LONG_SHIFTS)[number],
  ): Finding[] =>
    [1, 10, 100].map((clients) => {
      const shift = { fault: 'slow', amount, serviceShape, serviceTime, clients } as const
      const scenario: ScenarioInput = { ...shift, capacity: 10_000, load: 0.5 / amount, during: '120s', after: '1s' }
      const least = simulate(scenario, bare, seed).success.during - 0.005
      const { success } = simulate(scenario, subject, seed)
      const what = `${serviceShape} ${serviceTime} ms ×${amount}, ${clients} clients: success`
      return { goal: 'E8', subject: subject.name, what, figure: success.during, limit: { least } }
    })
  const bare: Subject = { name: 'none', policy: { ...(PRESET.policy as PolicyInput), attempts: 1 } }
  return [
    ...SHIFTS.flatMap((shift) => measure(RECOMMENDED, NONE, shift)),
    ...LONG_SHIFTS.flatMap((shift) => measure(PRESET, bare, shift)),
  ]
}

export const GOALS: Readonly<Record<string, (seed: number) => Finding[]>> = {
  'E1 full outage': fullOutage,
  'E2 transient errors': transientErrors,
  'E4 brown-out': brownOut,
  'E7 hedging': hedging,
  'E8 latency shift': latencyShift,
}
