/**
 * What the processes that share gates do: kinds of tasks with their policies, and the gates these name. Both the processes
 * and who checks them read this. Imports budgets of core.
 */
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { concurrencyBudget } from '../../packages/reprise/src/core/budgets/concurrency.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { ratioBudget } from '../../packages/reprise/src/core/budgets/ratio.js'
import { tokenBucket } from '../../packages/reprise/src/core/budgets/token-bucket.js'
import type { Allotment } from '../../packages/reprise/src/durable/allotment.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'

export const TOTAL = 30
export const CAPACITY = 40
export const RATIO = 0.25
export const PLACES = 3
export const THRESHOLD = 24
export const PROBES = 3
/** Retries of one task that the allotment allows. */
export const SHARE = 2

/** Long windows and no refill: what is given in a test adds up to one number, however slow the machine is. */
export function sharedBudgets(): Readonly<Record<string, Budget>> {
  return {
    count: countBudget({ total: TOTAL }),
    bucket: tokenBucket({ capacity: CAPACITY, refillPerSecond: 0 }),
    ratio: ratioBudget({ ratio: RATIO, minPerSecond: 0, window: '10h' }),
    places: concurrencyBudget({ max: PLACES }),
  }
}

const FAST = { initialDelay: '1ms', backoff: 'fixed', jitter: false } as const satisfies PolicyInput

export const KINDS = {
  counted: { ...FAST, attempts: 4, budget: 'count' },
  metered: { ...FAST, attempts: 3, budget: 'bucket' },
  rationed: { ...FAST, attempts: 3, budget: 'ratio' },
  placed: { attempts: 1, budget: 'places' },
  allotted: { ...FAST, attempts: 4 },
  guarded: {
    attempts: 1,
    breaker: { key: 'shared', failureThreshold: THRESHOLD, recoveryTimeout: '1h', halfOpenMaxCalls: PROBES },
  },
  limited: { ...FAST, attempts: 2 },
  single: { ...FAST, attempts: 3 },
  held: { attempts: 1, breaker: { key: 'held', failureThreshold: 3, recoveryTimeout: '1h', halfOpenMaxCalls: 2 } },
} as const satisfies Readonly<Record<string, PolicyInput>>

export type KindName = keyof typeof KINDS

export const MOST = 5

/** Beside the policy. */
export const OPTIONS: Readonly<
  Partial<Record<KindName, { readonly most?: number; readonly whenDenied?: 'hold'; readonly allot?: Allotment }>>
> = {
  limited: { most: MOST },
  single: { most: 1 },
  held: { whenDenied: 'hold' },
  allotted: { allot: { budget: 'allotment', total: TOTAL, perTask: SHARE } },
}

/** `hold`: until it is told to go on. */
export type Doing = 'fail' | 'pass' | 'hold'

/** What a process is told, by message. */
export type Order =
  | { readonly type: 'submit'; readonly kind: KindName; readonly ids: readonly string[]; readonly doing: Doing }
  | { readonly type: 'release' }
  | { readonly type: 'close' }

/**
 * What it says. `submitted`: the tasks are recorded. `peaks`: so many operations ran at once, in all processes, as this
 * one saw it.
 */
export type Said =
  | { readonly type: 'ready' }
  | { readonly type: 'submitted'; readonly peaks: Peaks }
  | { readonly type: 'closed'; readonly peaks: Peaks }

/** By kind and what its operations do. */
type Peaks = Readonly<Record<string, number>>
