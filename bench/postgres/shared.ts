/** Several processes on one database. Imports Node and the bundler's place. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { OUT } from './build.mjs'
import type { Place } from './place.js'
import { number, table } from '../ledger/report.js'
import { median, shuffled } from '../ledger/statistics.js'

const COUNTS = [1, 2, 4, 8]

async function messageOf(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown]
  return message
}

/** Steps per second of each. */
async function together(urls: readonly string[], seconds: number): Promise<number[]> {
  const children = urls.map((url) =>
    fork(`${OUT}shared-child.js`, [url, String(seconds)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  )
  await Promise.all(children.map(messageOf))
  const rates = children.map(async (child) => (await messageOf(child)) as number)
  for (const child of children) child.send('go')
  const all = await Promise.all(rates)
  await Promise.all(children.map(async (child) => child.exitCode ?? (await once(child, 'exit'))))
  return all
}

export async function measureShared(
  place: Place,
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<string> {
  const settings = COUNTS.map((count) => ({ count, rates: [] as number[], fair: [] as number[] }))
  for (let i = 0; i < rounds; i++) {
    for (const { count, rates, fair } of shuffled(settings)) {
      const all = await place.inDatabase((url) => together(Array<string>(count).fill(url), seconds))
      rates.push(all.reduce((sum, rate) => sum + rate, 0))
      fair.push(Math.min(...all) / Math.max(...all))
    }
  }
  const lines = settings.map(({ count, rates, fair }) => [
    `${count} ${count === 1 ? 'process' : 'processes'}`,
    number(median(rates)),
    `${number(median(fair))} ×`,
  ])
  return table([['50 steps at once in each', 'steps per second in all', 'least share ÷ largest'], ...lines])
}
