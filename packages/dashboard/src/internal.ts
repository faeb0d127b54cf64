/**
 * `@reprise/dashboard/internal`: what the command line needs of this package and nobody else should use. No promise of
 * stability: a name here may change or go in any release. Re-exports only.
 */
export { checkedGate } from './open-gate.js'
export { ListenError, type Listening } from './serve/listen.js'
export { metricsPage } from './serve/metrics-page.js'
export { serveMetrics } from './serve/metrics-server.js'
