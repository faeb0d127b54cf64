/**
 * Retries under the budgets that others have published. All but one have the attempts and the waits of `exponential-5`,
 * whatever their publishers' defaults are, so that the budgets compare and nothing else. Imports core and the
 * simulator's types.
 */
import { ratioBudget } from '../../core/budgets/ratio.js'
import type { PolicyInput } from '../../core/policy.js'
import type { BudgetMaker, Subject } from '../subject.js'
import { AwsQuota } from './aws-quota.js'
import { EnvoyBudget } from './envoy-budget.js'
import { GrpcThrottle } from './grpc-throttle.js'
import { RenewedCount } from './renewed-count.js'
import { SOURCES } from './sources.js'
import { SreThrottle } from './sre-throttle.js'

const ATTEMPTS = 5
/** Finagle's `RetryBudget()`: a ttl of 10 s, 10 retries a second as a reserve, and 20 % of the requests. */
const FINAGLE = { window: '10s', minPerSecond: 10, ratio: 0.2 } as const

interface Rule {
  readonly name: string
  readonly title: string
  readonly source?: string
  readonly attempts?: number
  readonly make: BudgetMaker
}

const RULES: readonly Rule[] = [
  { name: 'aws', title: 'AWS SDK retry quota, 500 tokens', source: SOURCES.aws, make: () => new AwsQuota() },
  {
    name: 'finagle',
    title: 'Finagle retry budget, 20 % and 10 a second',
    source: SOURCES.finagle,
    make: () => ratioBudget(FINAGLE),
  },
  {
    name: 'finagle-no-floor',
    title: 'Finagle retry budget, 20 %, no floor',
    source: SOURCES.finagle,
    make: () => ratioBudget({ ...FINAGLE, minPerSecond: 0 }),
  },
  {
    name: 'envoy',
    title: 'Envoy retry budget, 20 % of active requests, at least 3',
    source: SOURCES.envoy,
    make: () => new EnvoyBudget(ATTEMPTS),
  },
  {
    name: 'grpc',
    title: 'gRPC retry throttling, 10 tokens, ratio 0.1',
    source: SOURCES.grpc,
    make: () => new GrpcThrottle(),
  },
  {
    name: 'sre',
    title: 'SRE book, adaptive throttling with K = 2 and 10 % retries',
    source: SOURCES.sre,
    // One of the chapter's own rules.
    attempts: 3,
    make: (random) => new SreThrottle(random),
  },
  { name: 'job-count', title: 'job count, 20 retries per 100 calls', make: () => new RenewedCount() },
]

export function budgeted(exponential: PolicyInput): readonly Subject[] {
  return RULES.map(({ name, title, source, attempts = ATTEMPTS, make }) => ({
    name,
    title,
    policy: { ...exponential, attempts, budget: name },
    budgets: { [name]: make },
    ...(source !== undefined && { source }),
  }))
}
