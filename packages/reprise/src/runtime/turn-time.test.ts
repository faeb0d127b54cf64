import { afterEach, describe, expect, it, vi } from 'vitest'
import { TurnTime } from './turn-time.js'

const start = (stepMs: number) => {
  const source = { nowMs: 1000, reads: 0 }
  const heard: (number | 'ended')[] = []
  const read = (): number => {
    source.reads++
    source.nowMs += stepMs
    return source.nowMs
  }
  const turn = new TurnTime(read, { lagged: (ms) => void heard.push(ms), ended: () => void heard.push('ended') })
  const use = (times: number): number[] => Array.from({ length: times }, () => turn.nowMs())
  return { heard, source, turn, use }
}
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the time of a turn', () => {
  it('is read anew each time while reads are far apart', () => {
    const { source, use } = start(1)
    expect(use(500)).toEqual(Array.from({ length: 500 }, (_, i) => 1001 + i))
    expect(source.reads).toBe(500)
  })

  it('is shared in a burst, but never for more than 32 uses', () => {
    const { source, use } = start(0.001)
    const seen = use(10_000)
    expect(source.reads).toBeLessThan(600)
    let streak = 0
    for (let i = 1; i < seen.length; i++) {
      streak = seen[i] === seen[i - 1] ? streak + 1 : 0
      expect(streak).toBeLessThanOrEqual(32)
    }
  })

  it('never goes back', () => {
    const { use } = start(0.001)
    const seen = use(1000)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })

  it('is not kept past the end of the turn', async () => {
    const { source, turn, use } = start(0.001)
    use(40)
    const before = source.reads
    turn.nowMs()
    expect(source.reads).toBe(before)
    await nextTurn()
    source.nowMs += 500
    expect(turn.nowMs()).toBe(source.nowMs)
    // Once at the end of the turn, to say how old the shared reading had become, and once for this.
    expect(source.reads).toBe(before + 2)
  })

  it('is read anew each time once a pause has ended the burst', async () => {
    const { source, use } = start(0.001)
    use(40)
    await nextTurn()
    source.nowMs += 5
    const before = source.reads
    use(30)
    expect(source.reads).toBe(before + 30)
  })

  it('is never shared where the end of a turn cannot be told', () => {
    vi.stubGlobal('setImmediate', undefined)
    const { source, use } = start(0.001)
    use(500)
    expect(source.reads).toBe(500)
  })
})

describe('whoever relies on shared readings', () => {
  it('hears at each new one how old the last had become, and when the turn has ended', async () => {
    const { heard, source, turn, use } = start(0.001)
    use(40)
    expect([turn.shares, heard]).toEqual([true, []])
    source.nowMs += 300
    use(32)
    expect(heard).toHaveLength(1)
    expect(heard[0]).toBeGreaterThan(300)
    await nextTurn()
    await nextTurn()
    expect(turn.shares).toBe(false)
    expect(heard.slice(2)).toEqual(['ended'])
  })

  it('hears it at once before something fires by them', () => {
    const { heard, source, turn, use } = start(0.001)
    turn.settle()
    expect(heard).toEqual([])
    use(40)
    source.nowMs += 300
    turn.settle()
    expect(heard).toHaveLength(1)
    expect(heard[0]).toBeGreaterThan(300)
  })

  it('hears nothing while every use has a reading of its own', async () => {
    const { heard, turn, use } = start(1)
    use(500)
    await nextTurn()
    expect([turn.shares, heard]).toEqual([false, []])
  })
})
