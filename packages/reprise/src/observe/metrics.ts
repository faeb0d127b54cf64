/**
 * Metrics out of events, without a library: counts per key, budget and breaker, within a bound.
 *
 * Invariants: every total is exact, whatever the number of keys; at most `maxSeries` series exist, over all metrics;
 * labels are names and words of closed sets, never text of errors. Imports core and the layer's own files.
 */
import type { Observer, RepriseEvent } from '../core/event.js'
import { expectOptions } from '../core/options.js'
import type { BreakerPhase } from '../core/words.js'
import { breakerLevel } from './breaker-level.js'
import { createFamilies, type Families, readFamilies, RESERVED_SERIES, RESTORED } from './families.js'
import { budgetReasonLabel, kindLabel, outcomeLabel, stopReasonLabel } from './label.js'
import type { MetricFamily } from './metric-family.js'
import { ParkedCount } from './parked-count.js'

/** Options of `createMetrics`. */
export interface MetricsOptions {
  /**
   * Series over all metrics, as a Prometheus server counts them. Beyond it names become `other`; totals stay exact.
   * @default 2000
   * @example { maxSeries: 10_000 }
   */
  readonly maxSeries?: number
}

/** An observer that counts. */
export interface Metrics extends Observer {
  /**
   * Everything counted so far, as plain data.
   * @example for (const { name, samples } of metrics.read()) console.log(name, samples.length)
   */
  read(): readonly MetricFamily[]
}

const DEFAULT_MAX_SERIES = 2000

/**
 * Makes an observer that counts calls, attempts, waits, budget and breaker decisions. Throws an `OptionsError` for
 * wrong options.
 * @example
 * const counts = createMetrics()
 * const api = createExecutor({ observers: [counts] })
 * console.log(prometheus(counts))
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const isEnough = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= RESERVED_SERIES
  expectOptions('createMetrics', options, {
    maxSeries: [isEnough, `a whole number of at least ${RESERVED_SERIES}`],
  })
  const families = createFamilies(options.maxSeries ?? DEFAULT_MAX_SERIES)
  const parked = new ParkedCount((budget, change) => {
    families.parked.at(budget).value += change
  })
  return {
    onEvent(event) {
      count(families, event)
      parked.onEvent(event)
    },
    read: () => readFamilies(families),
  }
}

function count(families: Families, event: RepriseEvent): void {
  switch (event.type) {
    case 'call_succeeded':
      families.calls.at(event.key, 'success').value++
      return
    case 'call_failed':
      families.calls.at(event.key, 'failure', stopReasonLabel(event.stopReason)).value++
      return
    case 'attempt_finished':
      families.attempts.at(event.key, kindLabel(event.kind), outcomeLabel(event.outcome)).value++
      families.attemptTimes.at(event.key).observe(event.durationMs)
      return
    case 'waiting':
      families.waits.at(event.key).observe(event.delayMs)
      return
    case 'budget_decision':
      families.decisions.at(event.budget, String(event.allowed), budgetReasonLabel(event.reason)).value++
      return
    case 'breaker_changed':
      showBreaker(families, event.breaker, event.from, event.to)
      return
    case 'resumed':
    case 'interrupted':
    case 'dead_lettered':
    case 'state_refused':
    case 'queue_held':
    case 'queue_released':
    case 'reset':
      families.tasks.at(event.key, event.type).value++
      return
    case 'restored':
      families.restores.observe(event.elapsedMs)
      for (const result of RESTORED) families.restored[result] += event[result]
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

/** Breakers without a series of their own add up in `other`: it is 0 exactly while all of them are closed. */
function showBreaker(families: Families, breaker: string, from: BreakerPhase, to: BreakerPhase): void {
  const cell = families.breakers.at(breaker)
  const shared = families.breakers.isShared(breaker)
  cell.value = shared ? Math.max(0, cell.value + breakerLevel(to) - breakerLevel(from)) : breakerLevel(to)
}
