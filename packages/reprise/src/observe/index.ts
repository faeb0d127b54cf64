/**
 * `reprise/observe`: what can be made of the events of calls. Re-exports only.
 */
export { DIAGNOSTICS_CHANNEL, diagnostics } from './diagnostics.js'
export { type LoggerOptions, logger, logLine } from './log-line.js'
export type { MetricFamily } from './metric-family.js'
export { createMetrics, type Metrics, type MetricsOptions } from './metrics.js'
export { type OtelOptions, otel } from './otel.js'
export type { OpenTelemetryApi } from './otel-api.js'
export { PROMETHEUS_CONTENT_TYPE, prometheus } from './prometheus.js'
