import { describe, expect, it } from 'vitest'
import { LatencyFloor } from './latency-floor.js'

const BUCKET_MS = 5000

/** Successes of one latency within one bucket. */
const fill = (floor: LatencyFloor, bucket: number, latencyMs: number, count = 5): void => {
  for (let i = 0; i < count; i++) floor.add(latencyMs, bucket * BUCKET_MS + i)
}

describe('the latency floor', () => {
  it('is unknown until there were five successes, then what the running bucket says until one has ended', () => {
    const floor = new LatencyFloor()
    fill(floor, 0, 20, 4)
    expect(floor.ms).toBeUndefined()
    floor.add(20, 4)
    expect(floor.ms).toBe(20)
    floor.add(80, 5)
    expect(floor.ms).toBe(30)
    expect(floor.snapshot()).toEqual([])
    fill(floor, 1, 1)
    expect(floor.ms).toBe(30)
    expect(floor.snapshot()).toEqual([30])
  })

  it('is not made by a bucket with fewer successes', () => {
    const floor = new LatencyFloor()
    fill(floor, 0, 20, 4)
    fill(floor, 1, 50)
    floor.add(1, 2 * BUCKET_MS)
    expect(floor.ms).toBe(50)
    expect(floor.snapshot()).toEqual([50])
  })

  it('is the mean of a bucket, not the least of it', () => {
    const floor = new LatencyFloor()
    for (const ms of [10, 20, 30, 40, 100]) floor.add(ms, 0)
    floor.add(1, BUCKET_MS)
    expect(floor.ms).toBe(40)
  })

  it('is the least of the last 24 buckets: what is slower does not raise it, what is older is forgotten', () => {
    const floor = new LatencyFloor()
    fill(floor, 0, 10)
    for (let bucket = 1; bucket <= 24; bucket++) {
      fill(floor, bucket, 100 + bucket)
      expect(floor.ms).toBe(10)
    }
    fill(floor, 25, 500)
    expect(floor.ms).toBe(101)
    fill(floor, 26, 50)
    fill(floor, 27, 500)
    expect(floor.ms).toBe(50)
    expect(floor.snapshot()).toHaveLength(24)
  })

  it('outlasts an outage of any length, and buckets that are too small to count', () => {
    const floor = new LatencyFloor()
    fill(floor, 0, 10)
    for (let bucket = 1; bucket < 1000; bucket++) fill(floor, bucket, 900, 4)
    fill(floor, 1_000_000, 900)
    expect(floor.ms).toBe(10)
    expect(floor.snapshot()).toEqual([10])
  })

  it('puts what a clock that went back tells into the bucket it has', () => {
    const floor = new LatencyFloor()
    fill(floor, 9, 10)
    fill(floor, 2, 20)
    floor.add(1, 10 * BUCKET_MS)
    expect(floor.snapshot()).toEqual([15])
  })

  it('comes back from a snapshot, of which the last 24 count', () => {
    const floor = new LatencyFloor()
    floor.restore([1, ...Array.from({ length: 24 }, (_, index) => 100 - index)])
    expect(floor.ms).toBe(77)
    expect(floor.snapshot()).toHaveLength(24)
    floor.restore([])
    expect(floor.ms).toBeUndefined()
    expect(floor.snapshot()).toEqual([])
  })

  it('keeps nothing of what it saw before it was restored', () => {
    const floor = new LatencyFloor()
    fill(floor, 0, 1)
    floor.restore([100])
    floor.add(100, BUCKET_MS)
    expect(floor.ms).toBe(100)
  })

  it.each([undefined, null, {}, 'x', [-1], ['1'], [Number.NaN]])(
    'refuses the snapshot %o and stays as it was',
    (means) => {
      const floor = new LatencyFloor()
      floor.restore([7])
      expect(() => floor.restore(means)).toThrow('adaptiveBudget snapshot latencies: ')
      expect(floor.ms).toBe(7)
    },
  )
})
