import { describe, expect, it } from 'vitest'
import { LatencyHistogram, MIN_SAMPLES } from './latency.js'

/** Two buckets: a sample on the edge of one may be counted in the next. */
const TOLERANCE = 1.125 ** 2

const histogramOf = (samples: readonly number[]): LatencyHistogram => {
  const histogram = new LatencyHistogram()
  for (const sample of samples) histogram.add(sample)
  return histogram
}
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('a percentile', () => {
  it('is unknown until there are enough samples', () => {
    const histogram = histogramOf(range(1, MIN_SAMPLES - 1))
    expect(histogram.percentile(95)).toBeUndefined()
    histogram.add(1)
    expect(histogram.percentile(95)).toBeTypeOf('number')
  })

  it.each([1, 50, 90, 95, 99, 99.9, 100])('%d is the true one, rounded up to its bucket', (percentile) => {
    const histogram = histogramOf(range(1, 1000))
    const exact = Math.ceil(percentile * 10)
    expect(histogram.percentile(percentile)).toBeGreaterThanOrEqual(exact * (1 - 1e-9))
    expect(histogram.percentile(percentile)).toBeLessThanOrEqual(exact * TOLERANCE)
  })

  it.each([0.06, 1, 1000, 60_000, 86_400_000])('of samples of %d ms alone is that', (latencyMs) => {
    const histogram = histogramOf(Array.from({ length: MIN_SAMPLES }, () => latencyMs))
    for (const percentile of [1, 50, 100]) {
      expect(histogram.percentile(percentile)).toBeGreaterThanOrEqual(latencyMs * (1 - 1e-9))
      expect(histogram.percentile(percentile)).toBeLessThanOrEqual(latencyMs * TOLERANCE)
    }
  })

  it('of latencies of nothing, or less by a clock that went back, is the first bucket', () => {
    const histogram = histogramOf(Array.from({ length: MIN_SAMPLES }, (_, i) => (i % 2 === 0 ? 0 : -5)))
    expect(histogram.percentile(99)).toBeCloseTo(0.05, 10)
  })

  it('of a latency of a year is still at least that', () => {
    const year = 365 * 86_400_000
    const histogram = histogramOf(Array.from({ length: MIN_SAMPLES }, () => year))
    expect(histogram.percentile(50)).toBeGreaterThanOrEqual(year * (1 - 1e-9))
  })

  it('of what is off every scale is finite', () => {
    const histogram = histogramOf(Array.from({ length: MIN_SAMPLES }, () => Number.MAX_VALUE))
    expect(Number.isFinite(histogram.percentile(50))).toBe(true)
  })
})

describe('the past', () => {
  it('fades: when the dependency has become fast, the percentile follows', () => {
    const histogram = histogramOf(Array.from({ length: 5000 }, () => 1000))
    expect(histogram.percentile(50)).toBeGreaterThan(900)
    for (let i = 0; i < 5000; i++) histogram.add(10)
    expect(histogram.percentile(50)).toBeLessThan(15)
    expect(histogram.percentile(90)).toBeLessThan(15)
  })

  it('fades without ever forgetting so much that nothing can be said', () => {
    const histogram = new LatencyHistogram()
    for (let i = 0; i < 20_000; i++) {
      histogram.add(0.05 * 1.125 ** (i % 200))
      if (i >= MIN_SAMPLES && i % 37 === 0) expect(histogram.percentile(50)).toBeDefined()
    }
  })
})
