import { describe, expect, it } from 'vitest'
import { GOALS, holds } from './goals.js'

/** Simulations take seconds of computing, and the machine may be busy. */
const PATIENCE_MS = 180_000
const SEED = 1

describe('the goals, with a fixed seed and in the short form', () => {
  it.each(Object.entries(GOALS))(
    '%s',
    (_, measure) => {
      const findings = measure(SEED, 'short')
      expect(findings.length).toBeGreaterThan(0)
      expect(findings.filter((finding) => !holds(finding))).toEqual([])
    },
    PATIENCE_MS,
  )
})
