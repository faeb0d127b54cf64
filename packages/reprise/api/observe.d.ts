// reprise/observe: 14 names, 8 values and 6 types. Written by `npm run api`.
//
// values:
//   DIAGNOSTICS_CHANNEL, PROMETHEUS_CONTENT_TYPE, createMetrics, diagnostics, logLine, logger, otel, prometheus,
//
// types:
//   LoggerOptions, MetricFamily, Metrics, MetricsOptions, OpenTelemetryApi, OtelOptions,

import type {
  Observer, RepriseEvent,
} from 'reprise'

export declare const DIAGNOSTICS_CHANNEL = "reprise:event";

export interface LoggerOptions {
  readonly quiet?: boolean;
}

export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly Sample[];
} | {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  readonly samples: readonly HistogramSample[];
};

export interface Metrics extends Observer {
  read(): readonly MetricFamily[];
}

export interface MetricsOptions {
  readonly maxSeries?: number;
}

export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string): OtelTracer;
    setSpan(context: unknown, span: OtelSpan): unknown;
  };
  readonly metrics: {
    getMeter(name: string): OtelMeter;
  };
  readonly context: {
    active(): unknown;
  };
}

export interface OtelOptions {
  readonly api?: OpenTelemetryApi;
  readonly spans?: boolean;
  readonly metrics?: boolean;
}

export declare const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export declare function createMetrics(options?: MetricsOptions): Metrics;

export declare function diagnostics(): Observer;

export declare function logLine(event: RepriseEvent): string | undefined;

export declare function logger(write: (line: string) => void, options?: LoggerOptions): Observer;

export declare function otel(observer?: Observer, options?: OtelOptions): Observer;

export declare function prometheus(observer: Pick<Metrics, 'read'>): string;

// Not exported, and referred to above.

// observe/durations
interface Bucket {
  readonly le: number;
  readonly count: number;
}

// observe/metric-family
interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly Bucket[];
}

// observe/otel-api
type OtelAttributes = Record<string, string | number | boolean>;

// observe/otel-api
interface OtelCounter {
  add(value: number, attributes?: OtelAttributes): void;
}

// observe/otel-api
interface OtelInstrumentOptions {
  description?: string;
  unit?: string;
  advice?: {
    explicitBucketBoundaries?: number[];
  };
}

// observe/otel-api
interface OtelMeter {
  createCounter(name: string, options?: OtelInstrumentOptions): OtelCounter;
  createUpDownCounter(name: string, options?: OtelInstrumentOptions): OtelCounter;
  createHistogram(name: string, options?: OtelInstrumentOptions): OtelRecorder;
  createGauge(name: string, options?: OtelInstrumentOptions): OtelRecorder;
}

// observe/otel-api
interface OtelRecorder {
  record(value: number, attributes?: OtelAttributes): void;
}

// observe/otel-api
interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown;
  addEvent(name: string, attributes?: OtelAttributes, time?: OtelTime): unknown;
  setStatus(status: {
    code: number;
    message?: string;
  }): unknown;
  end(time?: OtelTime): void;
}

// observe/otel-api
type OtelTime = [seconds: number, nanos: number];

// observe/otel-api
interface OtelTracer {
  startSpan(name: string, options?: {
    attributes?: OtelAttributes;
    startTime?: OtelTime;
  }, context?: unknown): OtelSpan;
}

// observe/metric-family
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
