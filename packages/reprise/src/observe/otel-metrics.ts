/**
 * Events as OpenTelemetry metrics: the same counts as `createMetrics`, under names in OpenTelemetry's style.
 *
 * Instruments are made at the first event, because a meter taken before the program has registered its provider stays
 * silent for ever. The number of attribute sets is the SDK's to bound. Imports types of core and the layer's own files.
 */
import type { Observer, RepriseEvent } from '../core/event.js'
import { breakerLevel } from './breaker-level.js'
import { BOUNDS_SECONDS } from './durations.js'
import { RESTORED } from './families.js'
import { budgetReasonLabel, kindLabel, nameLabel, outcomeLabel, stopReasonLabel } from './label.js'
import type { OpenTelemetryApi, OtelCounter, OtelInstrumentOptions, OtelMeter, OtelRecorder } from './otel-api.js'
import { ParkedCount } from './parked-count.js'

interface Instruments {
  readonly calls: OtelCounter
  readonly attempts: OtelCounter
  readonly waits: OtelRecorder
  readonly attemptTimes: OtelRecorder
  readonly decisions: OtelCounter
  readonly breakers: OtelRecorder
  readonly parked: OtelCounter
  readonly tasks: OtelCounter
  readonly restores: OtelRecorder
  readonly restored: OtelCounter
}

export function otelMetrics(api: OpenTelemetryApi): Observer {
  let instruments: Instruments | undefined
  const parked = new ParkedCount((budget, change) => {
    instruments?.parked.add(change, { 'reprise.budget': nameLabel(budget) })
  })
  return {
    onEvent(event) {
      instruments ??= createInstruments(api.metrics.getMeter('reprise'))
      record(instruments, event)
      parked.onEvent(event)
    },
  }
}

function seconds(description: string): OtelInstrumentOptions {
  return { description, unit: 's', advice: { explicitBucketBoundaries: [...BOUNDS_SECONDS] } }
}

function createInstruments(meter: OtelMeter): Instruments {
  return {
    calls: meter.createCounter('reprise.calls', { description: 'Calls that ended', unit: '{call}' }),
    attempts: meter.createCounter('reprise.attempts', { description: 'Attempts that ran', unit: '{attempt}' }),
    waits: meter.createHistogram('reprise.wait.duration', seconds('Waits chosen before retries')),
    attemptTimes: meter.createHistogram('reprise.attempt.duration', seconds('How long attempts ran')),
    decisions: meter.createCounter('reprise.budget.decisions', {
      description: 'Answers of budgets',
      unit: '{decision}',
    }),
    breakers: meter.createGauge('reprise.breaker.state', { description: '0 closed, 1 half-open, 2 open' }),
    parked: meter.createUpDownCounter('reprise.parked', {
      description: 'Attempts that stand in line at a budget now',
      unit: '{attempt}',
    }),
    tasks: meter.createCounter('reprise.task.events', {
      description: 'What happened to durable tasks beside their attempts',
      unit: '{event}',
    }),
    restores: meter.createHistogram(
      'reprise.restore.duration',
      seconds('How long resumes took to look at what was left'),
    ),
    restored: meter.createCounter('reprise.restored.tasks', {
      description: 'Tasks that a resume has found',
      unit: '{task}',
    }),
  }
}

function record(instruments: Instruments, event: RepriseEvent): void {
  const key = { 'reprise.key': nameLabel(event.key) }
  switch (event.type) {
    case 'call_succeeded':
      return instruments.calls.add(1, { ...key, 'reprise.result': 'success' })
    case 'call_failed': {
      const stopReason = stopReasonLabel(event.stopReason)
      return instruments.calls.add(1, { ...key, 'reprise.result': 'failure', 'reprise.stop_reason': stopReason })
    }
    case 'attempt_finished': {
      const outcome = outcomeLabel(event.outcome)
      instruments.attempts.add(1, { ...key, 'reprise.kind': kindLabel(event.kind), 'reprise.outcome': outcome })
      return instruments.attemptTimes.record(event.durationMs / 1000, key)
    }
    case 'waiting':
      return instruments.waits.record(event.delayMs / 1000, key)
    case 'budget_decision':
      return instruments.decisions.add(1, {
        'reprise.budget': nameLabel(event.budget),
        'reprise.allowed': event.allowed,
        'reprise.reason': budgetReasonLabel(event.reason),
      })
    case 'breaker_changed':
      return instruments.breakers.record(breakerLevel(event.to), { 'reprise.breaker': nameLabel(event.breaker) })
    case 'resumed':
    case 'interrupted':
    case 'dead_lettered':
    case 'state_refused':
    case 'queue_held':
    case 'queue_released':
    case 'reset':
      return instruments.tasks.add(1, { ...key, 'reprise.event': event.type })
    case 'restored':
      instruments.restores.record(event.elapsedMs / 1000, {})
      for (const result of RESTORED) instruments.restored.add(event[result], { 'reprise.result': result })
      return
    case 'call_started':
    case 'attempt_started':
    case 'parked':
    case 'hedge_started':
    case 'hedge_cancelled':
    case 'store_away':
    case 'store_back':
  }
}
