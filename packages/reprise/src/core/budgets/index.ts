/**
 * The budgets that come with the library. Re-exports only.
 */
export {
  ADAPTIVE_REASONS,
  type AdaptiveBudget,
  type AdaptiveBudgetOptions,
  type AdaptiveBudgetState,
  type AdaptiveReason,
  adaptiveBudget,
} from './adaptive.js'
export { type AllOf, allOf } from './all-of.js'
export {
  type ConcurrencyBudget,
  type ConcurrencyBudgetOptions,
  type ConcurrencyBudgetState,
  concurrencyBudget,
} from './concurrency.js'
export {
  COUNT_REASONS,
  type CountBudget,
  type CountBudgetOptions,
  type CountBudgetState,
  type CountReason,
  countBudget,
} from './count.js'
export { type PerKeyBudget, type PerKeyOptions, type PerKeyState, perKey } from './per-key.js'
export { type RatioBudget, type RatioBudgetOptions, type RatioBudgetState, ratioBudget } from './ratio.js'
export { type TokenBucket, type TokenBucketOptions, type TokenBucketState, tokenBucket } from './token-bucket.js'
export { type Unlimited, unlimited } from './unlimited.js'
