import { describe, expect, it } from 'vitest'
import { normalizePolicy } from '../../core/normalize.js'
import { simulate } from '../simulate.js'
import { wellKnown } from './index.js'

const NAMES = [
  'none',
  'fixed-3',
  'exponential-3',
  'exponential-5',
  'breaker',
  'aws',
  'finagle',
  'finagle-no-floor',
  'envoy',
  'grpc',
  'sre',
  'job-count',
  'hedge',
  'hedge-budget',
  'adaptive',
  'recommended',
  'unlimited',
]
/** Of nobody but us, or of everybody. */
const UNPUBLISHED = ['none', 'job-count', 'adaptive', 'recommended', 'unlimited']
const SMALL = { clients: 10, capacity: 100, before: '10s', during: '5s', after: '10s' } as const

const subjects = wellKnown()
const subject = (name: string) => subjects.find((each) => each.name === name) ?? expect.fail(`no ${name}`)
const smallHang = (name: string) => simulate(SMALL, subject(name), 1)

describe('the well-known policies', () => {
  it('come under their names, in their order', () => {
    expect(subjects.map(({ name }) => name)).toEqual(NAMES)
    expect(new Set(subjects.map(({ title }) => title)).size).toBe(NAMES.length)
  })

  it('say where their rules are published', () => {
    const unpublished = subjects.filter(({ source }) => source === undefined)
    expect(unpublished.map(({ name }) => name)).toEqual(UNPUBLISHED)
    for (const { source } of subjects) if (source !== undefined) expect(source).toMatch(/^.+, https:\/\/\S+$/)
  })

  it('all have the time limits that are given', () => {
    for (const { policy } of wellKnown({ attemptTimeout: '250ms', timeout: '3s' })) {
      expect(normalizePolicy(policy).policy).toMatchObject({ attemptTimeoutMs: 250, timeoutMs: 3000 })
    }
    for (const { policy } of subjects) {
      expect(normalizePolicy(policy).policy).toMatchObject({ attemptTimeoutMs: 1000, timeoutMs: 10_000 })
    }
  })

  it('have every budget that they name, new for every client', () => {
    for (const { policy, budgets = {} } of subjects) {
      const { budget, hedge } = normalizePolicy(policy).policy
      const names = [budget, hedge?.budget].flatMap((ref) => ref?.name ?? [])
      expect(Object.keys(budgets)).toEqual(names)
      for (const make of Object.values(budgets)) expect(make(() => 0)).not.toBe(make(() => 0))
    }
  })

  it.each(NAMES)('%s can be simulated, and the same seed gives the same', (name) => {
    const report = smallHang(name)
    expect(report.name).toBe(name)
    // At least what came before the hang, 10 s of 25 s.
    expect(report.success.total).toBeGreaterThan(0.39)
    expect(smallHang(name)).toEqual(report)
  })

  it('make an outage worse by what their rules allow', () => {
    const mean = (name: string): number => smallHang(name).amplification.mean
    expect(mean('none')).toBe(1)
    expect(mean('breaker')).toBeLessThan(0.5)
    for (const name of ['grpc', 'hedge-budget', 'adaptive']) expect(mean(name)).toBeLessThan(1.1)
    expect(mean('exponential-3')).toBeGreaterThan(2)
    expect(mean('unlimited')).toBeGreaterThan(mean('exponential-5'))
    for (const name of ['aws', 'finagle-no-floor', 'envoy', 'sre', 'job-count']) {
      expect(mean(name)).toBeGreaterThan(1.05)
      expect(mean(name)).toBeLessThan(mean('exponential-5'))
    }
  })

  it('hide random errors as far as their rules allow', () => {
    const success = (name: string): number =>
      simulate({ ...SMALL, fault: 'none', errorRate: 0.2, after: '60s' }, subject(name), 1).success.total
    for (const name of ['none', 'grpc', 'hedge']) expect(success(name)).toBeLessThan(0.84)
    for (const name of ['fixed-3', 'exponential-3']) expect(success(name)).toBeCloseTo(1 - 0.2 ** 3, 2)
    for (const name of ['exponential-5', 'aws', 'finagle', 'envoy']) expect(success(name)).toBeGreaterThan(0.995)
    for (const name of ['finagle-no-floor', 'job-count']) {
      expect(success(name)).toBeGreaterThan(0.9)
      expect(success(name)).toBeLessThan(0.98)
    }
  })
})
