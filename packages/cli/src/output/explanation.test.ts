import { explain } from '@reprise/workflow/internal'
import { normalizePolicy } from 'reprise'
import { expect, test } from 'vitest'
import { terminal } from '../testing/sample-run.js'
import { showExplanation, showOverview } from './explanation.js'
import { textWidth } from './width.js'

const { policy } = normalizePolicy({
  attempts: 6,
  backoff: 'exponential',
  initialDelay: '1s',
  maxDelay: '30s',
  jitter: 'full',
  retryBudget: '45s',
  attemptTimeout: '10s',
})
const STEP = 'fetch-the-orders-of-the-day'
const explained = explain({ step: STEP, role: 'step', starts: null, policy, notes: [] })

test.each([40, 80, 200])('a policy fits a window of %d columns, with whole words and the waits', (columns) => {
  const text = showExplanation(explained, `orders.yaml · step ${STEP}`, terminal(columns))
  for (const line of text.split('\n')) expect(textWidth(line), line).toBeLessThanOrEqual(columns)
  for (const word of [STEP, 'attempt', 'wait before', '16s', '(attempts_exhausted):']) expect(text).toContain(word)
})

test.each([40, 80, 200])('every step of a workflow fits a window of %d columns, with its whole id', (columns) => {
  const text = showOverview([explained, { ...explained, step: 'send' }], 'orders.yaml', terminal(columns))
  for (const line of text.split('\n')) expect(textWidth(line), line).toBeLessThanOrEqual(columns)
  for (const word of [STEP, 'send', 'attempts', 'stops by', 'attempts_exhausted']) expect(text).toContain(word)
})
