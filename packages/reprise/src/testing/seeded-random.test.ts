import { describe, expect, it } from 'vitest'
import { seededRandom, virtualClock } from './index.js'

describe('seeded random', () => {
  it('repeats itself for the same seed and differs for another', () => {
    const numbers = (seed: number): number[] => Array.from({ length: 20 }, seededRandom(seed))
    expect(numbers(1)).toEqual(numbers(1))
    expect(numbers(1)).not.toEqual(numbers(2))
    for (const number of numbers(3)) expect(number >= 0 && number < 1).toBe(true)
  })

  it.each(['a', Number.NaN, undefined])('refuses the seed %s', (seed) => {
    expect(() => seededRandom(seed as number)).toThrow('A seed is a number')
  })
})

it('a virtual clock refuses a start that is no time', () => {
  expect(() => virtualClock({ startMs: 'x' as unknown as number })).toThrow('startMs')
})
