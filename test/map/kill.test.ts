/** The command line with a map, killed with SIGKILL at random moments in every phase; more with KILLS=200. Needs a build. */
import { expect, test } from 'vitest'
import { type KilledRun, RandomKillRun } from './random-kill-run.js'

const SEED = Number(process.env['SEED'] ?? 1)
const KILLS = Number(process.env['KILLS'] ?? 16)
const KILLS_OF_ONE = 8
const LANES = 2

test(`a map keeps every promise over ${KILLS} kills`, { timeout: 120_000 + KILLS * 10_000 }, async () => {
  const runs: KilledRun[] = []
  let [planned, next] = [0, 0]
  const lane = async (): Promise<void> => {
    while (planned < KILLS) {
      const seed = SEED * 1000 + next++
      planned += KILLS_OF_ONE
      const run = await new RandomKillRun(seed).play(KILLS_OF_ONE)
      runs.push({ ...run, faults: run.faults.map((fault) => `seed ${seed}: ${fault}`) })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const sum = (of: (run: KilledRun) => number): number => runs.reduce((total, run) => total + of(run), 0)
  const [kills, again] = [sum((run) => run.kills), sum((run) => run.again)]
  console.log(
    `seed ${SEED}: ${runs.length} runs, ${kills} kills, ${sum(({ starts }) => starts)} starts, ${again} of them again`,
  )
  expect(runs.flatMap(({ faults }) => faults)).toEqual([])
  expect(kills).toBeGreaterThan(KILLS / 2)
  expect(again).toBeGreaterThan(0)
})
