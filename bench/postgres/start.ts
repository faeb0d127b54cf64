/** From the start of a process until its first durable step is done and it has ended, in turns. Imports contenders. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { OUT } from './build.mjs'
import { answerOf, type Contender } from './contenders.js'
import type { Place } from './place.js'
import { reasonOf } from './rates.js'
import { number, table } from '../ledger/report.js'
import { median, shuffled } from '../ledger/statistics.js'

const run = promisify(execFile)

interface Starter {
  readonly title: string
  readonly isOwn: boolean
  readonly act: (url: string) => Promise<unknown>
  readonly times: number[]
  failure?: string
}

/** All in one database, which they have used before: tables are there. */
export async function measureStart(contenders: readonly Contender[], place: Place, rounds: number): Promise<string> {
  const plain = (title: string, args: (url: string) => string[], isOwn = false): Starter => {
    return { title, isOwn, act: (url) => run(process.execPath, args(url)), times: [] }
  }
  const peers = contenders
    .filter(({ kind }) => kind === 'peer')
    .map((contender): Starter => {
      const act = (url: string): Promise<unknown> => answerOf(contender, place, { act: 'start', url })
      return { title: contender.title, isOwn: false, act, times: [] }
    })
  const starters = [
    plain('bare Node', () => ['-e', '0']),
    plain('one commit by the driver alone', (url) => [`${OUT}driver-child.js`, url]),
    plain('Reprise', (url) => [`${OUT}start-child.js`, url], true),
    ...peers,
  ]
  await place.inDatabase(async (url) => {
    for (const starter of starters) await timed(starter, url)
    for (const starter of starters) starter.times.length = 0
    for (let i = 0; i < rounds; i++) for (const starter of shuffled(starters)) await timed(starter, url)
  })
  return tableOf(starters)
}

async function timed(starter: Starter, url: string): Promise<void> {
  if (starter.failure !== undefined) return
  const startMs = performance.now()
  try {
    await starter.act(url)
    starter.times.push(performance.now() - startMs)
  } catch (error) {
    starter.failure = reasonOf(error)
  }
}

function tableOf(starters: readonly Starter[]): string {
  const bareMs = median(starters[0]?.times ?? [])
  const lines = starters.map(({ title, isOwn, times, failure }) => {
    if (times.length === 0) return [title, failure ?? '', '', '', '']
    const ratio = median(times) / bareMs
    const mark = (most: number): string => (isOwn ? `≤ ${most} × ${ratio <= most ? '✓' : '✗'}` : '')
    return [title, `${number(median(times))} ms`, `${number(ratio)} ×`, mark(3), mark(2.4)]
  })
  return table([['', 'start to end', '÷ bare Node', 'goal', 'stretch'], ...lines])
}
