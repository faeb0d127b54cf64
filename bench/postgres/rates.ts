/**
 * Steps, attempts and tasks per second: in every round each contender has a turn, in random order, in a process and a
 * database of its own. Imports contenders and the workloads.
 */
import { answerOf, type Contender, Missing } from './contenders.js'
import type { Place } from './place.js'
import { number, table } from '../ledger/report.js'
import { median, shuffled } from '../ledger/statistics.js'
import { type Turn, type Workload, WORKLOADS } from './turn.mjs'

/** Of the floor of the same round; and whether it has to be ahead of every peer. */
interface Goal {
  readonly least?: number
  readonly stretch: number
  readonly ahead?: boolean
}

const GOALS: Readonly<Record<string, Goal>> = {
  sequential: { least: 0.6, stretch: 0.8 },
  fifty: { least: 0.3, stretch: 0.4 },
  failing10: { least: 0.3, stretch: 0.4 },
  failing100: { least: 0.3, stretch: 0.4 },
  awaited: { ahead: true, stretch: 0.6 },
  worked: { ahead: true, stretch: 0.6 },
  enqueue: { least: 0.3, stretch: 0.5 },
}

interface Result {
  readonly contender: Contender
  readonly turns: Turn[]
  /** The library's rate over this one's, of each round. */
  readonly ratios: number[]
  failure?: string
}

export interface RatesEffort {
  readonly rounds: number
  readonly seconds: number
}

/** A section of text for each workload, and a line of the summary. */
export async function measureRates(
  id: string,
  contenders: readonly Contender[],
  place: Place,
  effort: RatesEffort,
): Promise<{ title: string; text: string; summary: string[] }> {
  const workload = workloadOf(id)
  let results = contenders.map((contender): Result => ({ contender, turns: [], ratios: [] }))
  for (let round = 0; round < effort.rounds; round++) {
    const taken = new Map<Result, Turn>()
    for (const result of shuffled(results)) {
      const turn = await turnOf(result, id, place, effort.seconds)
      if (turn === 'lacking') results = results.filter((one) => one !== result)
      else if (turn !== undefined) taken.set(result, turn)
    }
    const own = [...taken].find(([{ contender }]) => contender.kind === 'library')?.[1]
    for (const [result, turn] of taken) {
      result.turns.push(turn)
      if (own !== undefined) result.ratios.push(own.rate / turn.rate)
    }
  }
  return { title: workload.title, text: tableOf(results), summary: summaryOf(id, workload, results) }
}

function workloadOf(id: string): Workload {
  const workload = WORKLOADS[id]
  if (workload === undefined) throw new Error(`No workload ${id}`)
  return workload
}

async function turnOf(
  result: Result,
  workload: string,
  place: Place,
  seconds: number,
): Promise<Turn | 'lacking' | undefined> {
  if (result.failure !== undefined) return undefined
  try {
    return await place.inDatabase(async (url) => {
      const answer = await answerOf(result.contender, place, { act: 'turn', url, workload, seconds })
      return (answer as { lacking?: true }).lacking ? 'lacking' : (answer as Turn)
    })
  } catch (error) {
    result.failure = reasonOf(error)
    return undefined
  } finally {
    // What was recorded and not done would be done during the turns of others.
    const { service } = result.contender
    if (service !== undefined && workload === 'enqueue') await place.drop(service)
  }
}

/** Short enough for a cell. */
export function reasonOf(error: unknown): string {
  if (error instanceof Missing) return `is left out: ${error.message}`
  const { stderr, message } = error as { stderr?: string; message: string }
  const line = /^\w*Error.*$/m.exec(stderr ?? '')?.[0] ?? message.split('\n')[0] ?? ''
  return `fails: ${line.slice(0, 120).replaceAll('|', '/')}`
}

const rateOf = ({ turns }: Result): number => median(turns.map(({ rate }) => rate))
const ORDER = ['floor', 'peer', 'library']

function tableOf(results: readonly Result[]): string {
  const sorted = results
    .filter(({ turns }) => turns.length > 0)
    .toSorted((a, b) => ORDER.indexOf(a.contender.kind) - ORDER.indexOf(b.contender.kind) || rateOf(b) - rateOf(a))
  const lines = sorted.map((result) => {
    const { contender, turns, ratios } = result
    const name = contender.lacks === undefined ? contender.title : `${contender.title} (${contender.lacks})`
    const ratio = contender.kind === 'library' || ratios.length === 0 ? '' : `${number(median(ratios))} ×`
    return [name, number(rateOf(result)), ratio, number(median(turns.map(({ cpuUs }) => cpuUs)))]
  })
  const measured = table([['', 'per second', 'Reprise ÷ this', 'CPU µs each'], ...lines])
  const absent = results.flatMap(({ contender, failure }) =>
    failure === undefined ? [] : [`${contender.title} ${failure}.`],
  )
  return absent.length === 0 ? measured : `${measured}\n\n${absent.join(' ')}`
}

function summaryOf(id: string, workload: Workload, results: readonly Result[]): string[] {
  const of = (kind: Contender['kind']): Result | undefined =>
    results.find(({ contender, turns }) => contender.kind === kind && turns.length > 0)
  const [own, floor] = [of('library'), of('floor')]
  const peers = results.filter(({ contender, turns }) => contender.kind === 'peer' && turns.length > 0)
  const best = peers.toSorted((a, b) => rateOf(b) - rateOf(a))[0]
  const ofFloor = floor === undefined ? NaN : median(floor.ratios)
  const ofBest = best === undefined ? NaN : median(best.ratios)
  const { least, stretch, ahead } = GOALS[id] ?? { stretch: 0 }
  const mark = (holds: boolean): string => (holds ? '✓' : '✗')
  const goal = ahead ? `ahead of all ${mark(ofBest > 1)}` : `≥ ${least} × ${mark(ofFloor >= (least ?? 0))}`
  return [
    workload.title,
    own === undefined ? '–' : number(rateOf(own)),
    floor === undefined ? '–' : number(rateOf(floor)),
    Number.isNaN(ofFloor) ? '–' : `${number(ofFloor)} ×`,
    own === undefined ? '' : goal,
    own === undefined ? '' : `≥ ${stretch} × ${mark(ofFloor >= stretch)}`,
    best === undefined ? '–' : `${best.contender.title} ${number(rateOf(best))}`,
    Number.isNaN(ofBest) ? '–' : `${number(ofBest)} ×`,
  ]
}

export const SUMMARY_HEAD = [
  'per second',
  'Reprise',
  'floor',
  'of the floor',
  'goal',
  'stretch',
  'fastest peer',
  '× that',
]
