import { describe, expect, it } from 'vitest'
import { drawsOf, initialState, snapshot, STATE_VERSION } from './state.js'

describe('the retry state', () => {
  it('begins with nothing behind it', () => {
    expect(initialState(500)).toEqual({
      failures: 0,
      launched: 0,
      totalDelayMs: 0,
      lastDelayMs: 0,
      expiresAtMs: null,
      deadlineAtMs: 500,
      resumed: false,
    })
    expect(initialState(null).deadlineAtMs).toBeNull()
  })

  it('as a snapshot is plain JSON that comes back as it was', () => {
    const state = {
      ...initialState(1e15 + 0.125),
      failures: 3,
      launched: 5,
      totalDelayMs: 0.1 + 0.2,
      lastDelayMs: 1 / 3,
    }
    const stored = snapshot(state, 4_294_967_295)
    expect(stored).toEqual({ version: STATE_VERSION, seed: 4_294_967_295, ...state })
    expect(JSON.parse(JSON.stringify(stored))).toStrictEqual(stored)
  })

  it('as a snapshot is taken from whatever record holds the fields, and from nothing else', () => {
    class Owner {
      failures = 1
      launched = 1
      totalDelayMs = 10
      lastDelayMs = 10
      expiresAtMs = null
      get deadlineAtMs(): number {
        return 7
      }
      get resumed(): boolean {
        return true
      }
      readonly operation = (): void => undefined
    }
    const stored = snapshot(new Owner(), 1)
    expect(Object.keys(stored).toSorted()).toEqual([
      'deadlineAtMs',
      'expiresAtMs',
      'failures',
      'lastDelayMs',
      'launched',
      'resumed',
      'seed',
      'totalDelayMs',
      'version',
    ])
    expect(stored).toMatchObject({ deadlineAtMs: 7, resumed: true, failures: 1 })
  })

  it('as a snapshot is a copy: what happens later does not change it', () => {
    const state = initialState(null)
    const stored = snapshot(state, 1)
    state.failures++
    expect(stored.failures).toBe(0)
  })
})

describe('the draws of a seed', () => {
  it('are a function of seed and failure, whatever was drawn before', () => {
    const inOrder = [1, 2, 3, 4].map(drawsOf(42))
    const draw = drawsOf(42)
    expect([draw(4), draw(2), draw(3), draw(1)]).toEqual([inOrder[3], inOrder[1], inOrder[2], inOrder[0]])
  })

  it('stay what they are: a stored call must draw the same with a newer release', () => {
    expect([1, 2, 3].map(drawsOf(1)).map((chance) => chance * 2 ** 32)).toEqual([920_564_995, 314_344_336, 697_614_773])
  })

  it('differ between neighbouring seeds and neighbouring failures', () => {
    const seen = new Set<number>()
    for (let seed = 0; seed < 100; seed++) for (let n = 1; n <= 100; n++) seen.add(drawsOf(seed)(n))
    expect(seen.size).toBeGreaterThan(9990)
  })
})
