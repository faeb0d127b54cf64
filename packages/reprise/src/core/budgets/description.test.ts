/** What budgets say of themselves: enough to make them again, where somebody may want to. */
import { expect, it } from 'vitest'
import type { Budget } from '../budget.js'
import { adaptiveBudget, allOf, concurrencyBudget, countBudget, perKey, ratioBudget, tokenBucket } from './index.js'

const silent: Budget = { allowAttempt: () => ({ allowed: true, reason: 'allowed' }), peek: () => true }

it.each<[string, Budget, object]>([
  ['a count', countBudget({ total: 5, perKey: 2 }), { type: 'count', total: 5, perKey: 2 }],
  [
    'a bucket',
    tokenBucket({ capacity: 5, refillPerSecond: 1, chargeFirstAttempt: false }),
    { type: 'token_bucket', capacity: 5, refillPerSecond: 1, chargeFirstAttempt: false },
  ],
  [
    'a ratio',
    ratioBudget({ ratio: 0.2, minPerSecond: 3, window: '20s' }),
    { type: 'ratio', ratio: 0.2, reserve: 60, windowMs: 20_000 },
  ],
  ['places', concurrencyBudget({ max: 3 }), { type: 'concurrency', max: 3 }],
  [
    'a line',
    adaptiveBudget({ bulkhead: true, maxPark: '1s', maxParked: 7 }),
    { type: 'adaptive', bulkhead: true, strict: false, maxParkMs: 1000, maxParked: 7 },
  ],
  [
    'several',
    allOf(concurrencyBudget({ max: 3 }), silent),
    { type: 'all_of', members: [{ type: 'concurrency', max: 3 }, null] },
  ],
  ['one for each key', perKey(() => countBudget({ total: 1 })), { type: 'per_key', each: { type: 'count', total: 1 } }],
  ['one for each key that says nothing', perKey(() => silent), { type: 'per_key' }],
])('%s says its type and its limits', (_what, budget, said) => {
  expect(JSON.parse(JSON.stringify(budget.describe?.()))).toEqual(said)
})
