/**
 * A process that starts where very many tasks wait and one is due: how long from its start until that one runs, and what
 * memory it takes. Imports contenders.
 */
import { answerOf, type Contender } from './contenders.js'
import type { Place } from './place.js'
import { reasonOf } from './rates.js'
import { number, table } from '../ledger/report.js'
import { median } from '../ledger/statistics.js'

interface First {
  readonly firstMs: number
  readonly rssMb: number
}

export async function measureRestart(
  contenders: readonly Contender[],
  place: Place,
  { count, rounds }: { readonly count: number; readonly rounds: number },
): Promise<string> {
  const lines: string[][] = []
  for (const contender of contenders) {
    try {
      const all = await place.inDatabase((url) => restarts(contender, place, url, count, rounds))
      if (all.length > 0) lines.push(lineOf(contender, all))
    } catch (error) {
      lines.push([contender.title, reasonOf(error), '', '', ''])
    }
    console.error(`restart: ${contender.title} measured`)
  }
  return table([[`${count} tasks wait`, 'first due one runs after', 'memory', 'goal', 'stretch'], ...lines])
}

async function restarts(
  contender: Contender,
  place: Place,
  url: string,
  count: number,
  rounds: number,
): Promise<First[]> {
  const all: First[] = []
  for (let round = 0; round < rounds; round++) {
    // All that wait in the first round, and in each round one that is due.
    const filled = await answerOf(contender, place, { act: 'fill', url, count: round === 0 ? count : 0, waiting: true })
    if ((filled as { lacking?: true } | undefined)?.lacking) return []
    all.push((await answerOf(contender, place, { act: 'first', url })) as First)
  }
  return all
}

function lineOf({ title, kind }: Contender, all: readonly First[]): string[] {
  const seconds = median(all.map(({ firstMs }) => firstMs)) / 1000
  const rss = median(all.map(({ rssMb }) => rssMb))
  const mark = (most: number): string => (kind === 'library' ? `≤ ${most} s ${seconds <= most ? '✓' : '✗'}` : '')
  return [title, `${number(seconds)} s`, `${number(rss)} MB`, mark(2), mark(0.5)]
}
