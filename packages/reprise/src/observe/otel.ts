/**
 * The bridge to OpenTelemetry: spans and metrics out of events, beside whatever else observes.
 * Providers are the program's: register them before the first call. Imports types of core and the layer's own files.
 */
import type { Observer } from '../core/event.js'
import { expectOptions, FLAG } from '../core/options.js'
import { loadOpenTelemetryApi, type OpenTelemetryApi } from './otel-api.js'
import { otelMetrics } from './otel-metrics.js'
import { otelSpans } from './otel-spans.js'

export interface OtelOptions {
  /** `import * as api from '@opentelemetry/api'`; the installed peer by default. Needed where there is no `require`. */
  readonly api?: OpenTelemetryApi
  /** A span per call and one per attempt; true by default. */
  readonly spans?: boolean
  /** Counts and durations; true by default. */
  readonly metrics?: boolean
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Passes every event on to `observer`, if there is one, and publishes it to OpenTelemetry. */
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
