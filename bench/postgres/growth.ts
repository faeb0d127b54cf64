/** What a task costs where there are few and very many. Imports Node and the bundler's place. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { OUT } from './build.mjs'
import type { Place } from './place.js'
import { number, table } from '../ledger/report.js'

const run = promisify(execFile)

interface Growth {
  readonly claimUs: number
  readonly commitUs: number
  readonly restoreMs: number
  readonly perTask: number
}

export async function measureGrowth(place: Place, counts: readonly number[]): Promise<string> {
  const all: Growth[] = []
  for (const count of counts) {
    const { stdout } = await place.inDatabase((url) =>
      run(process.execPath, [`${OUT}growth-child.js`, url, String(count)]),
    )
    all.push(JSON.parse(stdout) as Growth)
    console.error(`growth: ${count} tasks measured`)
  }
  const least = { claimUs: all[0]?.claimUs ?? NaN, commitUs: all[0]?.commitUs ?? NaN }
  const lines = all.map((one, i) => [
    number(counts[i] ?? 0),
    `${number(one.claimUs)} µs`,
    `${number(one.claimUs / least.claimUs)} ×`,
    `${number(one.commitUs)} µs`,
    `${number(one.commitUs / least.commitUs)} ×`,
    `${number(one.restoreMs)} ms`,
    `${number(one.perTask)} B`,
  ])
  const head = ['tasks', 'claimed and done, each', '÷ fewest', 'awaited, each', '÷ fewest', 'restored', 'on disk, each']
  return table([head, ...lines])
}
