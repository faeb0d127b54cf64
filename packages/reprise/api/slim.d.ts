// reprise/slim: 4 names, 1 values and 3 types. Written by `npm run api`.
//
// values:
//   retry,
//
// types:
//   SlimContext, SlimOptions, SlimPolicyInput,

import type {
  BackoffInput, Clock, PolicyInput, Random, RetryPredicate,
} from 'reprise'

export interface SlimContext {
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface SlimOptions {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface SlimPolicyInput extends Pick<PolicyInput, SharedFields> {
  readonly backoff?: SlimBackoff;
  readonly retryOn?: readonly (MatcherWord | '5xx' | RetryPredicate)[];
}

export declare function retry<T>(operation: (context: SlimContext) => T | PromiseLike<T>, policy?: SlimPolicyInput | number | false, options?: SlimOptions): Promise<T>;

// Not exported, and referred to above.

// core/policy
declare const MATCHER_WORDS: readonly ['network', 'timeout', 'server_error', 'rate_limit'];

// core/policy
type MatcherWord = (typeof MATCHER_WORDS)[number];

// slim/slim-policy
type SharedFields = 'attempts' | 'initialDelay' | 'maxDelay' | 'jitter' | 'jitterFactor' | 'maxTotalDelay' | 'attemptTimeout' | 'timeout' | 'maxRetryAfter';

// slim/slim-policy
type SlimBackoff = Exclude<Extract<BackoffInput, string | Record<'type', string>>, Record<'formula', string>>;
