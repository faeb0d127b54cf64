import { describe, expect, it } from 'vitest'
import { normalizePolicy } from './normalize.js'

const notesOf = (input: unknown): readonly string[] => normalizePolicy(input).notes

describe('notes', () => {
  it('tell of a cap below the initial delay', () => {
    expect(notesOf({ max_delay: '500ms' })).toEqual([
      'The maximum delay 500ms is below the initial delay 1s and cuts it: raise it to 1s.',
    ])
    expect(notesOf({ maxDelay: '1s' })).toEqual([])
  })

  it('tell of hedges without a budget beside budgeted retries', () => {
    const hedge = { delay: 1 }
    expect(notesOf({ budget: 'api', hedge })).toEqual([
      'Retries ask budget api, but hedges ask none: give the hedge a budget, or share.',
    ])
    expect(notesOf({ budget: 'api', hedge: { ...hedge, budget: 'share' } })).toEqual([])
    expect(notesOf({ budget: 'api', hedge: { ...hedge, budget: 'hedges' } })).toEqual([])
    expect(notesOf({ budget: 'api' })).toEqual([])
    expect(notesOf({ hedge })).toEqual([])
  })
})

describe('a policy from a file', () => {
  const units = { needsUnits: true }

  it('needs units also under names that both spellings share', () => {
    expect(() => normalizePolicy({ timeout: 5 }, units)).toThrow('timeout')
    expect(() => normalizePolicy({ hedge: { delay: 5 } }, units)).toThrow('hedge.delay')
    expect(() => normalizePolicy({ backoff: { custom: { delays: ['1s', 2] } } }, units)).toThrow('delays[1]')
    expect(() => normalizePolicy({ backoff: { linear: { increment: 2 } } }, units)).toThrow('increment')
  })

  it('is as good as any other with them', () => {
    expect(normalizePolicy({ timeout: '5s', hedge: { delay: '5ms' } }, units).policy.timeoutMs).toBe(5000)
  })
})
