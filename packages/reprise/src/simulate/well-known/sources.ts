/**
 * Where the rules of the well-known policies, and their constants, are published. Imports nothing.
 */

const at = (title: string, url: string): string => `${title}, ${url}`

export const SOURCES = {
  fixed: at('Resilience4j: Retry', 'https://resilience4j.readme.io/docs/retry'),
  exponential: at(
    'AWS Architecture Blog: Exponential Backoff And Jitter',
    'https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/',
  ),
  breaker: at('Martin Fowler: CircuitBreaker', 'https://martinfowler.com/bliki/CircuitBreaker.html'),
  aws: at(
    'AWS SDKs: standard retry mode, retry quota',
    'https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html',
  ),
  finagle: at('Finagle: Retry Budgets', 'https://finagle.github.io/blog/2016/02/08/retry-budgets'),
  envoy: at(
    'Envoy: circuit breakers, RetryBudget',
    'https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto',
  ),
  grpc: at('gRFC A6: client retries', 'https://github.com/grpc/proposal/blob/master/A6-client-retries.md'),
  sre: at('Google SRE book: Handling Overload', 'https://sre.google/sre-book/handling-overload/'),
  hedge: at('Dean, Barroso: The Tail at Scale', 'https://doi.org/10.1145/2408776.2408794'),
} as const
