/** Chance in the words of a test, and policies made of it. */
import type { BackoffInput, HedgeInput, PolicyInput } from '../../packages/reprise/src/index.js'

export interface Chance {
  readonly random: () => number
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number
  percent(share: number): boolean
  oneOf<const T>(choices: readonly T[]): T
  /** The value in so many per cent of the cases. */
  maybe<T>(share: number, make: () => T): T | undefined
}

export function chanceOf(random: () => number): Chance {
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1))
  const percent = (share: number): boolean => random() * 100 < share
  return {
    random,
    whole,
    percent,
    oneOf: <const T>(choices: readonly T[]): T => {
      const [choice] = choices.slice(whole(0, choices.length - 1)) as unknown as readonly [T]
      return choice
    },
    maybe: (share, make) => (percent(share) ? make() : undefined),
  }
}

const BUDGETS = ['places', 'tokens', 'ratio', 'line', 'polled', 'nobody registered this'] as const
const HEDGE_BUDGETS = ['places', 'tokens', 'ratio'] as const

function randomHedge(chance: Chance): HedgeInput {
  const name = chance.oneOf(HEDGE_BUDGETS)
  const budget = chance.oneOf([undefined, name, 'share', { name, share: true }] as const)
  return {
    delay: chance.oneOf([0, 1, 5, 20]),
    maxHedges: chance.whole(1, 3),
    cancelOnFirstTerminal: chance.percent(50),
    ...(budget === undefined ? {} : { budget }),
  }
}

/** Only what was chosen is there: a policy does not take `undefined` for an answer. */
const present = (fields: object): PolicyInput =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export function randomPolicy(chance: Chance, mischief: () => void = () => undefined): PolicyInput {
  const backoffs: readonly BackoffInput[] = [
    'fixed',
    'linear',
    'exponential',
    'fibonacci',
    { custom: { delays: [3, 0, 11] } },
    { custom: { formula: 'initial * attempt' } },
  ]
  return present({
    attempts: chance.whole(1, 6),
    backoff: chance.oneOf(backoffs),
    initialDelay: chance.oneOf([0, 1, 4, 10]),
    maxDelay: chance.oneOf([10, 40]),
    jitter: chance.oneOf([false, true, 'full', 'equal', 'decorrelated']),
    retryOn: chance.maybe(70, () => [(error: unknown) => (mischief(), !(error instanceof RangeError))]),
    retryBudget: chance.maybe(20, () => `${chance.whole(1, 60)}ms`),
    attemptTimeout: chance.maybe(40, () => chance.whole(2, 40)),
    timeout: chance.maybe(40, () => chance.whole(5, 150)),
    maxRetryAfter: 30,
    budget: chance.maybe(60, () => ({ name: chance.oneOf(BUDGETS), cost: chance.oneOf([1, 1, 1, 2]) })),
    breaker: chance.maybe(25, () => ({
      failureThreshold: chance.whole(2, 8),
      recoveryTimeout: chance.whole(5, 60),
      halfOpenMaxCalls: chance.whole(1, 2),
    })),
    hedge: chance.maybe(40, () => randomHedge(chance)),
    failIf: chance.maybe(20, () => (value: unknown) => (mischief(), value === 'bad')),
  })
}
