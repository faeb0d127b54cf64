/**
 * The part of `@opentelemetry/api` that the bridge uses, by shape: the package is an optional peer, so our types must
 * not import its types. The real module fits as it is; a test holds the two together.
 * Also how the peer is found. Imports the layer's own files.
 */
import { builtinModule } from './builtin-module.js'

export type OtelAttributes = Record<string, string | number | boolean>

/** Seconds and nanoseconds since the epoch: the only form that an SDK cannot mistake for another scale. */
export type OtelTime = [seconds: number, nanos: number]

export interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown
  addEvent(name: string, attributes?: OtelAttributes, time?: OtelTime): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(time?: OtelTime): void
}

export interface OtelTracer {
  startSpan(name: string, options?: { attributes?: OtelAttributes; startTime?: OtelTime }, context?: unknown): OtelSpan
}

export interface OtelInstrumentOptions {
  description?: string
  unit?: string
  advice?: { explicitBucketBoundaries?: number[] }
}

export interface OtelCounter {
  add(value: number, attributes?: OtelAttributes): void
}

export interface OtelRecorder {
  record(value: number, attributes?: OtelAttributes): void
}

export interface OtelMeter {
  createCounter(name: string, options?: OtelInstrumentOptions): OtelCounter
  createUpDownCounter(name: string, options?: OtelInstrumentOptions): OtelCounter
  createHistogram(name: string, options?: OtelInstrumentOptions): OtelRecorder
  createGauge(name: string, options?: OtelInstrumentOptions): OtelRecorder
}

/** The part of `@opentelemetry/api` that `otel` uses. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string): OtelTracer
    setSpan(context: unknown, span: OtelSpan): unknown
  }
  readonly metrics: { getMeter(name: string): OtelMeter }
  readonly context: { active(): unknown }
}

interface ModuleModule {
  createRequire(from: string): (id: string) => unknown
}

const ABSENT =
  'otel() needs the package @opentelemetry/api: ' +
  'run `npm install @opentelemetry/api`, or pass it as otel(observer, { api })'

/** The installed peer. Its providers are shared through a global, so it need not be the copy the program imports. */
export function loadOpenTelemetryApi(): OpenTelemetryApi {
  try {
    const require = (builtinModule('node:module') as ModuleModule).createRequire(import.meta.url)
    return require('@opentelemetry/api') as OpenTelemetryApi
  } catch (cause) {
    throw new Error(ABSENT, { cause })
  }
}
