/**
 * The bridge to OpenTelemetry: spans and metrics out of events, beside whatever else observes.
 * Providers are the program's: register them before the first call. Imports types of core and the layer's own files.
 */
import type { Observer } from '../core/event.js'
import { expectOptions, FLAG } from '../core/options.js'
import { loadOpenTelemetryApi, type OpenTelemetryApi } from './otel-api.js'
import { otelMetrics } from './otel-metrics.js'
import { otelSpans } from './otel-spans.js'

/** Options of `otel`. */
export interface OtelOptions {
  /**
   * The module `@opentelemetry/api`. Needed where there is no `require`.
   * @default the installed peer
   * @example { api: await import('@opentelemetry/api') }
   */
  readonly api?: OpenTelemetryApi
  /** Whether there is a span for each call and one for each attempt. @default true @example { spans: false } */
  readonly spans?: boolean
  /** Whether calls and durations are counted. @default true @example { metrics: false } */
  readonly metrics?: boolean
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/**
 * Makes an observer that publishes every event to OpenTelemetry, and passes it on to `observer` if there is one. Throws
 * if `@opentelemetry/api` cannot be loaded.
 * @example const api = createExecutor({ observers: [otel()] })
 */
export function otel(observer?: Observer, options: OtelOptions = {}): Observer {
  expectOptions('otel', options, { api: [isObject, 'the module @opentelemetry/api'], spans: FLAG, metrics: FLAG })
  const api = options.api ?? loadOpenTelemetryApi()
  const spans = options.spans === false ? undefined : otelSpans(api)
  const metrics = options.metrics === false ? undefined : otelMetrics(api)
  return {
    onEvent(event) {
      // What the wrapped observer throws is its caller's business, after OpenTelemetry was told all the same.
      try {
        observer?.onEvent(event)
      } finally {
        spans?.onEvent(event)
        metrics?.onEvent(event)
      }
    },
  }
}
