/**
 * The search over many processes, and its page: how many scenarios break the rule, and the worst of them.
 * Imports the search.
 */
import { performKept } from './journal.js'
import { isWorse, type Trial, type Verdict } from './rule.js'
import { climb, type Domain, type Found, tryAtRandom } from './search.js'

/** Random scenarios by their seeds, or one to start climbing from. */
export interface SearchTask {
  readonly domain: Domain
  readonly seeds: readonly number[]
  readonly from?: Pick<Found, 'genes' | 'seed'> & { readonly difference: number }
}

/** What is left of a verdict between processes. */
interface Tried {
  readonly genes: readonly number[]
  readonly seed: number
  /** What the scenario is judged by. */
  readonly difference: number
  readonly isWorse: boolean
  /** The same of the first seed alone. */
  readonly once: { readonly difference: number; readonly isWorse: boolean }
  readonly text: string
  readonly kind: Kind
}

/** Harm comes from different places: the figures are told apart by these. */
const KINDS = {
  /** None of it may be worse by more than 3 points. */
  usual: 'one queue for each budget',
  tight: 'the same with answers that take more than four fifths of the attempt timeout',
  shared: 'one budget over two queues',
  neighbours: 'neighbours that retry without a budget',
} as const
type Kind = keyof typeof KINDS

export interface Search {
  readonly domain: Domain
  readonly runs: number
  readonly seed: number
  /** Processes at a time. */
  readonly workers: number
  /** A file for the parts that are done. */
  readonly journal: string | undefined
}

const CHUNK = 5
/** How many scenarios to climb from, and how many small changes to try on each. */
const CLIMBS = 10
const STEPS = 20
const SHOWN = 12
/** Answers that usually take more of the attempt timeout leave no room for a queue. */
const TIGHT_SHARE = 0.8
/** A search passes if at most this share of the random scenarios is worse with fresh seeds, and none of the usual ones by more than 3 points. */
const MOST_WORSE = 0.01
const MOST_POINTS = 0.03

export function performSearch({ domain, seeds, from }: SearchTask): Tried[] {
  if (from === undefined) return seeds.map((seed) => shorten(tryAtRandom(seed, domain)))
  return climb(from, from.difference, STEPS, domain).map(shorten)
}

export async function searchAll(program: URL, search: Search): Promise<{ page: string; broken: boolean }> {
  const { domain, runs, seed, workers, journal } = search
  const chunks = Array.from({ length: Math.ceil(runs / CHUNK) }, (_, chunk) => seed + chunk * CHUNK)
  const tasks = chunks.map((first): SearchTask => {
    const count = Math.min(CHUNK, seed + runs - first)
    return { domain, seeds: Array.from({ length: count }, (_, index) => first + index) }
  })
  const measurement = { program, name: `${domain} from ${seed}`, partOf, workers, journal }
  const random = (await performKept<SearchTask, Tried[]>(measurement, tasks)).flat()
  const starts = byHarm(random).slice(0, CLIMBS)
  const climbs = starts.map((from): SearchTask => ({ domain, seeds: [], from }))
  const climbed = (await performKept<SearchTask, Tried[]>(measurement, climbs)).flat()
  const worse = random.filter((tried) => tried.isWorse)
  const broken = worse.length > MOST_WORSE * random.length || random.some((one) => one.kind === 'usual' && isFar(one))
  return { page: pageOf(search, random, climbed), broken }
}

function partOf({ seeds, from }: SearchTask): string {
  return from === undefined ? `random ${seeds.join(' ')}` : `climbing from ${from.seed}`
}

function byHarm(tried: readonly Tried[]): Tried[] {
  return tried.toSorted((a, b) => a.difference - b.difference)
}

function pageOf({ domain, runs, seed }: Search, random: readonly Tried[], climbed: readonly Tried[]): string {
  const flag = domain === 'outside' ? ' --outside' : ''
  const mean = random.reduce((sum, { difference }) => sum + difference, 0) / Math.max(1, random.length)
  return [
    '# What a search for harm found',
    '',
    `\`npm run storm -- --search --seed ${seed} --runs ${runs}${flag}\`. Differences are in points of success, ours minus no`,
    'retries, over the calls from the start of the fault until a minute after its end. A scenario that is more than half a',
    'point worse with one seed is run again with three fresh seeds, and judged by their mean alone; where these are far',
    'apart, with up to twelve. `W`: worse by more than half a point and three standard errors. *Unclear*: more than 3 points',
    'below in the mean, but not by three standard errors of twelve seeds.',
    '',
    `- At random: ${counted(random)}. Mean difference ${points(mean)}.`,
    ...Object.entries(KINDS).map(
      ([kind, what]) => `  - ${what}: ${counted(random.filter((one) => one.kind === kind))}.`,
    ),
    `- Climbing from the ${CLIMBS} worst: ${counted(climbed)}.`,
    '',
    '## The worst at random',
    '',
    ...byHarm(random).slice(0, SHOWN).map(lineOf),
    '',
    '## The worst by climbing',
    '',
    ...byHarm(climbed).slice(0, SHOWN).map(lineOf),
    '',
  ].join('\n')
}

function counted(tried: readonly Tried[]): string {
  const once = worseOf(tried.map((one) => one.once))
  const unclear = tried.filter((one) => !one.isWorse && one.difference < -MOST_POINTS).length
  return `${tried.length} scenarios. With one seed ${once}; with fresh seeds ${worseOf(tried)}; ${unclear} unclear`
}

function isFar({ difference, isWorse: worse }: Tried['once']): boolean {
  return worse && difference < -MOST_POINTS
}

function worseOf(tried: readonly Tried['once'][]): string {
  const worse = tried.filter((one) => one.isWorse).length
  return `${worse} worse, ${tried.filter(isFar).length} by more than 3 points`
}

function lineOf({ text, isWorse: worse }: Tried): string {
  return `- ${worse ? '**W** ' : ''}${text}`
}

function shorten({ genes, seed, verdict }: Found): Tried {
  const { difference, first } = verdict
  const once = { difference: first.difference, isWorse: isWorse(first) }
  const kind = kindOf(first.trial)
  return { genes, seed, difference, isWorse: isWorse(verdict), once, text: textOf(seed, verdict), kind }
}

function kindOf({ scenario, attemptTimeoutMs = Infinity }: Trial): Kind {
  if (scenario.neighbours !== undefined) return 'neighbours'
  if (scenario.faultShare !== undefined && scenario.keyed !== true) return 'shared'
  return Number(scenario.serviceTime) > TIGHT_SHARE * attemptTimeoutMs ? 'tight' : 'usual'
}

function textOf(seed: number, { difference, first, again }: Verdict): string {
  const rounded = (_name: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value
  const { none, ours, trial } = first
  const { scenario, attemptTimeoutMs, timeoutMs } = trial
  const success = `${percent(none.success.throughout)} → ${percent(ours.success.throughout)}`
  const repeated = again.length === 0 ? '' : `, then ${again.map((one) => points(one.difference)).join(', ')}`
  const limits = `attempt timeout ${attemptTimeoutMs ?? 'no'} ms, timeout ${timeoutMs} ms`
  const figures = `${points(difference)}: seed ${seed} ${points(first.difference)} (${success})${repeated}`
  return `${figures}; ${limits}, \`${JSON.stringify(scenario, rounded)}\``
}

function points(difference: number): string {
  return (difference * 100).toFixed(2)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
