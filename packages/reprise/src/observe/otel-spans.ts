/**
 * Events as OpenTelemetry spans: one per call, a child per attempt, so that waits are gaps and hedges overlap.
 *
 * Invariants: a span is ended exactly once; what arrives for a call that has ended is dropped; only living calls are
 * remembered. Spans carry words and numbers, never text of errors, which may hold secrets. The call's span is a child
 * of the span active where the call was made; it is not itself active inside the operation, because an observer only
 * watches. Imports types of core and the layer's own files.
 */
import type { Observer, RepriseEvent } from '../core/event.js'
import { budgetReasonLabel, nameLabel, stopReasonLabel } from './label.js'
import type { OpenTelemetryApi, OtelAttributes, OtelSpan, OtelTime, OtelTracer } from './otel-api.js'
import { errorType } from './plain-text.js'

type EventOf<T extends RepriseEvent['type']> = Extract<RepriseEvent, { readonly type: T }>

interface OpenCall {
  readonly span: OtelSpan
  /** What the spans of attempts are started in. */
  readonly context: unknown
  readonly attempts: Map<number, OtelSpan>
}

/** `SpanStatusCode.ERROR`. */
const ERROR = 2

export function otelSpans(api: OpenTelemetryApi): Observer {
  const tracer = api.trace.getTracer('reprise')
  const calls = new Map<number, OpenCall>()
  return {
    onEvent(event) {
      if (event.type === 'call_started') {
        calls.set(event.callId, openCall(api, tracer, event))
        return
      }
      const call = calls.get(event.callId)
      if (call === undefined) return
      if (event.type === 'call_succeeded' || event.type === 'call_failed') {
        calls.delete(event.callId)
        closeCall(call, event)
      } else {
        follow(call, tracer, event)
      }
    },
  }
}

function openCall(api: OpenTelemetryApi, tracer: OtelTracer, event: EventOf<'call_started'>): OpenCall {
  const name = nameLabel(event.key)
  const attributes: OtelAttributes = { 'reprise.key': name, 'reprise.max_attempts': event.attempts }
  if (event.taskId !== undefined) attributes['reprise.task_id'] = event.taskId
  if (event.scopeKind !== undefined) attributes['reprise.scope_kind'] = event.scopeKind
  if (event.scope !== undefined) attributes['reprise.scope'] = event.scope
  if (event.correlationId !== undefined) attributes['reprise.correlation_id'] = event.correlationId
  if (event.resumeId !== undefined) attributes['reprise.resume_id'] = event.resumeId
  const parent = api.context.active()
  const span = tracer.startSpan(`reprise ${name}`, { attributes, ...startTime(event) }, parent)
  return { span, context: api.trace.setSpan(parent, span), attempts: new Map() }
}

function closeCall(call: OpenCall, event: EventOf<'call_succeeded' | 'call_failed'>): void {
  const time = otelTime(event.timeMs)
  // An operation that ignores its signal outlives its call; nobody will wait for it, nor does its span.
  for (const attempt of call.attempts.values()) {
    attempt.setAttributes({ 'reprise.outcome': 'abandoned' })
    attempt.end(time)
  }
  call.span.setAttributes({
    'reprise.attempts': event.attemptsMade,
    'reprise.launches': event.launches,
    'reprise.total_delay_ms': event.totalDelayMs,
  })
  if (event.type === 'call_failed') {
    const stopReason = stopReasonLabel(event.stopReason)
    call.span.setAttributes({ 'reprise.stop_reason': stopReason, 'error.type': errorType(event.error) })
    call.span.setStatus({ code: ERROR, message: stopReason })
  }
  call.span.end(time)
}

function follow(call: OpenCall, tracer: OtelTracer, event: RepriseEvent): void {
  switch (event.type) {
    case 'attempt_started':
      return openAttempt(call, tracer, event)
    case 'attempt_finished':
      return closeAttempt(call, event)
    case 'waiting':
      return note(call, event, { 'reprise.delay_ms': event.delayMs, 'reprise.next_attempt': event.nextAttempt })
    case 'parked':
      return note(call, event, { 'reprise.budget': nameLabel(event.budget), 'reprise.launch': event.launch })
    case 'budget_decision':
      if (!event.allowed) note(call, event, denial(event))
      return
    case 'breaker_changed':
      return note(call, event, { 'reprise.breaker': nameLabel(event.breaker), 'reprise.breaker.state': event.to })
    case 'resumed':
      return note(call, event, { 'reprise.from': event.from })
    case 'interrupted':
      return note(call, event, { 'reprise.launch': event.launch, 'reprise.orderly': event.orderly })
    case 'reset':
    case 'dead_lettered':
    case 'state_refused':
      return note(call, event, {})
    case 'call_started':
    case 'call_succeeded':
    case 'call_failed':
    case 'hedge_started':
    case 'hedge_cancelled':
    // Of no call.
    case 'restored':
    case 'queue_held':
    case 'queue_released':
    case 'store_away':
    case 'store_back':
  }
}

function openAttempt(call: OpenCall, tracer: OtelTracer, event: EventOf<'attempt_started'>): void {
  const attributes: OtelAttributes = {
    'reprise.key': nameLabel(event.key),
    'reprise.attempt': event.attempt,
    'reprise.launch': event.launch,
    'reprise.kind': event.kind,
    'reprise.delay_before_ms': event.delayBeforeMs,
  }
  if (event.parkedMs > 0) attributes['reprise.parked_ms'] = event.parkedMs
  const span = tracer.startSpan(`reprise ${event.kind}`, { attributes, ...startTime(event) }, call.context)
  call.attempts.set(event.launch, span)
}

function closeAttempt(call: OpenCall, event: EventOf<'attempt_finished'>): void {
  const span = call.attempts.get(event.launch)
  if (span === undefined) return
  call.attempts.delete(event.launch)
  span.setAttributes({ 'reprise.outcome': event.outcome, 'reprise.won': event.won })
  // A loser that was told to stop did nothing wrong.
  if (event.outcome !== 'success' && event.outcome !== 'aborted') {
    span.setAttributes({ 'error.type': errorType(event.error) })
    span.setStatus({ code: ERROR, message: event.outcome })
  }
  span.end(otelTime(event.timeMs))
}

function note(call: OpenCall, event: RepriseEvent, attributes: OtelAttributes): void {
  call.span.addEvent(`reprise.${event.type}`, attributes, otelTime(event.timeMs))
}

function denial(event: EventOf<'budget_decision'>): OtelAttributes {
  return {
    'reprise.budget': nameLabel(event.budget),
    'reprise.launch': event.launch,
    'reprise.kind': event.kind,
    'reprise.reason': budgetReasonLabel(event.reason),
  }
}

function startTime(event: RepriseEvent): { startTime: OtelTime } {
  return { startTime: otelTime(event.timeMs) }
}

function otelTime(ms: number): OtelTime {
  const micros = Math.round(ms * 1000)
  const seconds = Math.floor(micros / 1_000_000)
  return [seconds, (micros - seconds * 1_000_000) * 1000]
}
