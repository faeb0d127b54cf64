/** How the limit of a queue is shared by the processes that serve it. Imports the rule alone. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shareOf } from './queue-limit.js'

describe('the share of a process in a limited queue', () => {
  test('is all of it for a process that serves it alone, or that has not said that it does', () => {
    expect(shareOf({ most: 4 }, 'a')).toBe(Infinity)
    expect(shareOf({ most: 4, servers: { a: 4 } }, 'a')).toBe(Infinity)
    expect(shareOf({ most: 4, servers: { a: 4, b: 2 } }, 'c')).toBe(Infinity)
  })

  test('is all that it can run where the limit is above what all can run', () => {
    expect(shareOf({ most: 9, servers: { a: 4, b: 4 } }, 'a')).toBe(Infinity)
    expect(shareOf({ servers: { a: 4, b: 4 } }, 'a')).toBe(Infinity)
  })

  test('is in proportion to what each can run', () => {
    const state = { most: 8, servers: { conductor: 8, one: 4, two: 4 } }
    expect(['conductor', 'one', 'two'].map((owner) => shareOf(state, owner))).toEqual([4, 2, 2])
  })

  test('adds up to the limit, whatever is rounded', () => {
    const servers = fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 64 }), { minKeys: 2 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), servers, (most, given) => {
        const owners = Object.keys(given)
        const all = Object.values(given).reduce((sum, slots) => sum + slots, 0)
        fc.pre(all > most)
        const shares = owners.map((owner) => shareOf({ most, servers: given }, owner))
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(most)
        for (const [index, owner] of owners.entries()) {
          const exact = (most * (given[owner] ?? 0)) / all
          expect(Math.abs((shares[index] ?? 0) - exact)).toBeLessThan(1)
        }
      }),
    )
  })
})
