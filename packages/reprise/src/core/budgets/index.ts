/**
 * The budgets that come with the library. Re-exports only.
 */
export { type AdaptiveBudget, type AdaptiveBudgetOptions, adaptiveBudget } from './adaptive.js'
export { type AllOf, allOf } from './all-of.js'
export { type ConcurrencyBudget, type ConcurrencyBudgetOptions, concurrencyBudget } from './concurrency.js'
export { type CountBudget, type CountBudgetOptions, countBudget } from './count.js'
export { type PerKeyBudget, type PerKeyOptions, perKey } from './per-key.js'
export { type RatioBudget, type RatioBudgetOptions, ratioBudget } from './ratio.js'
export { type TokenBucket, type TokenBucketOptions, tokenBucket } from './token-bucket.js'
export { type Unlimited, unlimited } from './unlimited.js'
