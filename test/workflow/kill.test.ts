/** The command line killed with SIGKILL at random moments, until the run has ended; more with KILLS=1000. Needs a build. */
import { expect, test } from 'vitest'
import { KillStory, type StoryEnd } from './kill-story.js'

const SEED = Number(process.env['SEED'] ?? 1)
const KILLS = Number(process.env['KILLS'] ?? 30)
const KILLS_OF_ONE = 8
const LANES = 3

test(`a run keeps every promise over ${KILLS} kills`, { timeout: 120_000 + KILLS * 5000 }, async () => {
  const ends: StoryEnd[] = []
  let [planned, next] = [0, 0]
  const lane = async (): Promise<void> => {
    while (planned < KILLS) {
      const seed = SEED * 1000 + next++
      planned += KILLS_OF_ONE
      const end = await new KillStory(seed).play(KILLS_OF_ONE)
      ends.push({ ...end, faults: end.faults.map((fault) => `seed ${seed}: ${fault}`) })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const sum = (of: (end: StoryEnd) => number): number => ends.reduce((total, end) => total + of(end), 0)
  const [kills, again] = [sum((end) => end.kills), sum((end) => end.again)]
  console.log(
    `seed ${SEED}: ${ends.length} runs, ${kills} kills, ${sum((end) => end.starts)} starts, ${again} of them again`,
  )
  expect(ends.flatMap(({ faults }) => faults)).toEqual([])
  expect(kills).toBeGreaterThan(KILLS / 2)
  expect(again).toBeGreaterThan(0)
})
