import { expect, it } from 'vitest'
import { ATTEMPT_KINDS, ATTEMPT_RESULTS, BUDGET_REASONS, STOP_REASONS } from './words.js'

it('the reasons to stop are these words, each once', () => {
  expect(STOP_REASONS.toSorted()).toEqual([
    'aborted',
    'attempts_exhausted',
    'breaker_open',
    'budget_denied',
    'interrupted',
    'no_policy',
    'not_retryable',
    'retry_after_too_long',
    'retry_budget_exhausted',
    'timeout',
  ])
})

it('every word is written alike', () => {
  for (const word of [...STOP_REASONS, ...ATTEMPT_KINDS, ...ATTEMPT_RESULTS, ...BUDGET_REASONS])
    expect(word).toMatch(/^[a-z]+(_[a-z]+)*$/)
})
