/**
 * The bridge against the real `@opentelemetry/api`: providers of our own, small enough to read, are registered through
 * it, so names, context and global lookup are the package's, not a mock's.
 */
import * as api from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RepriseEvent } from '../core/event.js'
import { createMetrics } from './metrics.js'
import { otel } from './otel.js'
import type { OpenTelemetryApi } from './otel-api.js'

interface RecordedSpan {
  readonly name: string
  readonly parent: string | undefined
  readonly id: string
  readonly startTime: api.TimeInput | undefined
  readonly attributes: api.Attributes
  readonly events: { name: string; attributes: unknown; time: unknown }[]
  status: api.SpanStatus | undefined
  ends: unknown[]
}

interface Measurement {
  readonly instrument: string
  readonly value: number
  readonly attributes: api.Attributes
}

let spans: RecordedSpan[] = []
let measurements: Measurement[] = []
let active: api.Context = api.ROOT_CONTEXT

function startSpan(name: string, options: api.SpanOptions = {}, context: api.Context = api.context.active()): api.Span {
  const id = String(spans.length + 1).padStart(16, '0')
  const record: RecordedSpan = {
    name,
    id,
    parent: api.trace.getSpanContext(context)?.spanId,
    startTime: options.startTime,
    attributes: { ...options.attributes },
    events: [],
    status: undefined,
    ends: [],
  }
  spans.push(record)
  const span = {
    spanContext: () => ({ traceId: '1'.repeat(32), spanId: id, traceFlags: api.TraceFlags.SAMPLED }),
    setAttributes(attributes: api.Attributes) {
      Object.assign(record.attributes, attributes)
      return span
    },
    addEvent(event: string, attributes?: unknown, time?: unknown) {
      record.events.push({ name: event, attributes, time })
      return span
    },
    setStatus(status: api.SpanStatus) {
      record.status = status
      return span
    },
    end: (time?: unknown) => void record.ends.push(time),
  }
  return span as unknown as api.Span
}

const tracerProvider: api.TracerProvider = {
  getTracer: () => ({ startSpan }) as unknown as api.Tracer,
}

const instrument = (name: string) => {
  const take = (value: number, attributes: api.Attributes = {}): void =>
    void measurements.push({ instrument: name, value, attributes })
  return { add: take, record: take }
}

const meterProvider: api.MeterProvider = {
  getMeter: () =>
    ({
      createCounter: instrument,
      createUpDownCounter: instrument,
      createHistogram: instrument,
      createGauge: instrument,
    }) as unknown as api.Meter,
}

const contextManager: api.ContextManager = {
  active: () => active,
  with: (_context, fn, thisArg, ...args) => fn.call(thisArg as ThisParameterType<typeof fn>, ...args),
  bind: (_context, target) => target,
  enable: () => contextManager,
  disable: () => contextManager,
}

beforeEach(() => {
  spans = []
  measurements = []
  active = api.ROOT_CONTEXT
  api.trace.setGlobalTracerProvider(tracerProvider)
  api.metrics.setGlobalMeterProvider(meterProvider)
  api.context.setGlobalContextManager(contextManager)
})

afterEach(() => {
  api.trace.disable()
  api.metrics.disable()
  api.context.disable()
  vi.unstubAllGlobals()
})

const base = { timeMs: 1_700_000_000_000, key: 'api', callId: 1, attempt: 1, attempts: 3 }
const end = { attemptsMade: 2, launches: 3, totalDelayMs: 100, elapsedMs: 130 }
const error = new TypeError('password=hunter2')
const started = { ...base, type: 'attempt_started', kind: 'retry', delayBeforeMs: 0, parkedMs: 0 } as const
const finished = {
  ...base,
  type: 'attempt_finished',
  kind: 'retry',
  outcome: 'failure',
  durationMs: 10,
  won: false,
  error,
} as const

const sampleCall: RepriseEvent[] = [
  { ...base, type: 'call_started', taskId: 't', scopeKind: 'run', scope: 'run-1', correlationId: 'c', resumeId: 'r' },
  { ...started, launch: 1 },
  { ...finished, launch: 1, timeMs: base.timeMs + 10.25 },
  { ...base, type: 'waiting', delayMs: 100, nextAttempt: 2, error },
  { ...started, attempt: 2, launch: 2, delayBeforeMs: 100, parkedMs: 5 },
  { ...started, attempt: 2, launch: 3, kind: 'hedge' },
  { ...finished, attempt: 2, launch: 2, outcome: 'success', won: true },
  { ...finished, attempt: 2, launch: 3, kind: 'hedge', outcome: 'aborted' },
  { ...base, attempt: 2, type: 'call_succeeded', ...end, timeMs: base.timeMs + 130 },
]

const publish = (events: readonly RepriseEvent[], observer = otel()): void => {
  for (const event of events) observer.onEvent(event)
}
const failedCall: RepriseEvent = { ...base, type: 'call_failed', stopReason: 'attempts_exhausted', error, ...end }

test('the real package has the shape that the bridge declares', () => {
  const fits: OpenTelemetryApi = api
  expect(fits.trace.getTracer('x').startSpan('x').end()).toBeUndefined()
})

describe('spans', () => {
  test('a call is a span under the active one, with a child for each attempt, hedges included', () => {
    const parent = startSpan('request')
    active = api.trace.setSpan(api.ROOT_CONTEXT, parent)
    publish(sampleCall)
    const [request, call, ...attempts] = spans
    expect(call).toMatchObject({ name: 'reprise api', parent: request?.id, startTime: [1_700_000_000, 0] })
    expect(attempts.map((one) => [one.name, one.parent, one.attributes['reprise.outcome']])).toEqual([
      ['reprise retry', call?.id, 'failure'],
      ['reprise retry', call?.id, 'success'],
      ['reprise hedge', call?.id, 'aborted'],
    ])
    expect(attempts[1]?.attributes).toMatchObject({ 'reprise.delay_before_ms': 100, 'reprise.parked_ms': 5 })
    expect(call?.attributes).toMatchObject({
      'reprise.attempts': 2,
      'reprise.launches': 3,
      'reprise.scope_kind': 'run',
      'reprise.scope': 'run-1',
      'reprise.task_id': 't',
    })
    expect(call?.events.map((event) => event.name)).toEqual(['reprise.waiting'])
    expect(call?.status).toBeUndefined()
  })

  test('every span ends exactly once, at the time of its event', () => {
    publish(sampleCall)
    expect(spans.map((span) => span.ends)).toEqual([
      [[1_700_000_000, 130_000_000]],
      [[1_700_000_000, 10_250_000]],
      [[1_700_000_000, 0]],
      [[1_700_000_000, 0]],
    ])
  })

  test('a failed call has the status error with its stop reason', () => {
    publish([{ ...base, type: 'call_started' }, failedCall])
    expect(spans[0]?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: 'attempts_exhausted' })
    expect(spans[0]?.attributes).toMatchObject({
      'reprise.stop_reason': 'attempts_exhausted',
      'error.type': 'TypeError',
    })
  })

  test('a failed attempt has the status error, one that lost a race has not', () => {
    publish(sampleCall)
    expect(spans.map((span) => span.status?.message)).toEqual([undefined, 'failure', undefined, undefined])
  })

  test('denials, lines and breakers are events of the call', () => {
    const decision = { ...base, type: 'budget_decision', launch: 2, kind: 'retry', budget: 'b', cost: 1 } as const
    publish([
      { ...base, type: 'call_started' },
      { ...decision, mode: 'gate', allowed: true, reason: 'allowed' },
      { ...decision, mode: 'gate', allowed: false, reason: 'not on a friday' },
      { ...base, type: 'parked', launch: 2, budget: 'b' },
      { ...base, type: 'breaker_changed', breaker: 'db', from: 'closed', to: 'open' },
    ])
    expect(spans[0]?.events).toMatchObject([
      { name: 'reprise.budget_decision', attributes: { 'reprise.budget': 'b', 'reprise.reason': 'other' } },
      { name: 'reprise.parked', attributes: { 'reprise.budget': 'b' } },
      { name: 'reprise.breaker_changed', attributes: { 'reprise.breaker': 'db', 'reprise.breaker.state': 'open' } },
    ])
  })

  test('an attempt that outlives its call ends with it, and what comes late changes nothing', () => {
    publish([
      { ...base, type: 'call_started' },
      { ...started, launch: 1 },
      failedCall,
      { ...finished, launch: 1 },
      failedCall,
    ])
    expect(spans.map((span) => span.ends.length)).toEqual([1, 1])
    expect(spans[1]?.attributes['reprise.outcome']).toBe('abandoned')
  })

  test('text of errors is nowhere in what is published', () => {
    publish([...sampleCall, { ...base, type: 'call_started' }, failedCall])
    expect(JSON.stringify([spans, measurements])).not.toContain('hunter2')
  })
})

describe('metrics', () => {
  const sums = (): Record<string, number> => {
    const totals: Record<string, number> = {}
    for (const { instrument: name, value, attributes } of measurements) {
      const id = [name, ...Object.values(attributes)].join(' ')
      totals[id] = (totals[id] ?? 0) + value
    }
    return totals
  }

  test('calls, attempts and durations are recorded by key', () => {
    publish([...sampleCall, failedCall])
    expect(sums()).toEqual({
      'reprise.calls api success': 1,
      'reprise.calls api failure attempts_exhausted': 1,
      'reprise.attempts api retry failure': 1,
      'reprise.attempts api retry success': 1,
      'reprise.attempts api hedge aborted': 1,
      'reprise.wait.duration api': 0.1,
      'reprise.attempt.duration api': 0.03,
    })
  })

  test('budgets, breakers and the line are recorded by their own names', () => {
    const decision = { ...base, type: 'budget_decision', launch: 1, kind: 'retry', budget: 'b', cost: 1 } as const
    publish([
      { ...decision, mode: 'gate', allowed: false, reason: 'a custom word' },
      { ...base, type: 'parked', launch: 1, budget: 'b' },
      { ...decision, mode: 'grant', allowed: true, reason: 'allowed' },
      { ...base, type: 'breaker_changed', breaker: 'db', from: 'closed', to: 'open' },
    ])
    expect(sums()).toEqual({
      'reprise.budget.decisions b false other': 1,
      'reprise.budget.decisions b true allowed': 1,
      'reprise.parked b': 0,
      'reprise.breaker.state db': 2,
    })
  })

  test('a provider registered after the bridge was made is found', () => {
    api.metrics.disable()
    const observer = otel()
    api.metrics.setGlobalMeterProvider(meterProvider)
    publish([failedCall], observer)
    expect(measurements).toHaveLength(1)
  })
})

describe('the bridge', () => {
  test('passes every event on, and publishes it even when the wrapped observer throws', () => {
    const metrics = createMetrics()
    publish(sampleCall, otel(metrics))
    expect(metrics.read()[0]?.samples).toHaveLength(1)
    const observer = otel({
      onEvent() {
        throw new Error('observer')
      },
    })
    measurements = []
    expect(() => observer.onEvent(failedCall)).toThrow('observer')
    expect(measurements).toHaveLength(1)
  })

  test('publishes only what is wanted', () => {
    publish(sampleCall, otel(undefined, { api, spans: false }))
    expect([spans.length, measurements.length > 0]).toEqual([0, true])
    measurements = []
    publish(sampleCall, otel(undefined, { api, metrics: false }))
    expect([spans.length > 0, measurements.length]).toEqual([true, 0])
  })

  test('without providers it is silent', () => {
    api.trace.disable()
    api.metrics.disable()
    expect(() => publish([...sampleCall, failedCall])).not.toThrow()
  })

  test('does not throw on odd events', () => {
    const biting = new Proxy(new Error('x'), {
      get() {
        throw new Error('bite')
      },
    })
    publish([{ ...base, type: 'resumed' } as unknown as RepriseEvent])
    publish([
      { ...base, type: 'call_started' },
      { ...failedCall, error: biting },
    ])
    expect(spans[0]?.attributes['error.type']).toBe('object')
  })

  test.each([
    undefined,
    {
      getBuiltinModule: () => ({
        createRequire: () => () => {
          throw new Error('not found')
        },
      }),
    },
  ])('without the package it says what to install: %#', (process) => {
    vi.stubGlobal('process', process)
    expect(() => otel()).toThrow('npm install @opentelemetry/api')
    expect(() => otel(undefined, { api })).not.toThrow()
  })
})
