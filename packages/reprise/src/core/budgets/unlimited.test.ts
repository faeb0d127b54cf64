import { expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { ALLOWED } from '../gate.js'
import { unlimited } from './unlimited.js'

it('always allows, with one shared decision', () => {
  const budget = unlimited()
  const request: BudgetRequest = {
    key: 'k',
    attempt: 1,
    launch: 1,
    kind: 'retry',
    ref: { name: 'b', cost: 1e9 },
    now: 0,
    deadlineMs: 0,
  }
  for (let attempt = 1; attempt < 1000; attempt++) {
    expect(budget.allowAttempt({ ...request, attempt })).toBe(ALLOWED)
    expect(budget.peek({ ...request, attempt })).toBe(true)
  }
})
