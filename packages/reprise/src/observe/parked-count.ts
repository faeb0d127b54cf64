/**
 * How many attempts stand in a budget's line right now, told by events.
 *
 * An attempt in line is known by its call and its launch number, so a lost, repeated or late event cannot make the
 * count drift: leaving twice is leaving once, and the end of a call takes out whatever it still had in line.
 * Imports types of core only.
 */
import type { RepriseEvent } from '../core/event.js'

type ParkedListener = (budget: string, change: 1 | -1) => void

export class ParkedCount {
  /** Call → launch number → budget. Only calls that have something in line are kept. */
  private readonly calls = new Map<number, Map<number, string>>()
  private readonly onChange: ParkedListener

  constructor(onChange: ParkedListener) {
    this.onChange = onChange
  }

  onEvent(event: RepriseEvent): void {
    if (event.type === 'parked') this.enter(event.callId, event.launch, event.budget)
    else if (this.calls.size > 0) this.noticeLeaving(event)
  }

  private noticeLeaving(event: RepriseEvent): void {
    switch (event.type) {
      case 'budget_decision':
        if (event.mode === 'grant' || event.reason === 'park_expired') this.leave(event.callId, event.launch)
        return
      case 'attempt_started':
      case 'hedge_cancelled':
        return this.leave(event.callId, event.launch)
      case 'waiting':
      case 'call_succeeded':
      case 'call_failed':
      case 'interrupted':
        return this.leaveAll(event.callId)
      case 'call_started':
      case 'attempt_finished':
      case 'hedge_started':
      case 'breaker_changed':
      case 'parked':
      case 'resumed':
      case 'reset':
      case 'dead_lettered':
      case 'state_refused':
      case 'restored':
      case 'queue_held':
      case 'queue_released':
      case 'store_away':
      case 'store_back':
    }
  }

  private enter(callId: number, launch: number, budget: string): void {
    this.leave(callId, launch)
    const line = this.calls.get(callId) ?? new Map<number, string>()
    line.set(launch, budget)
    this.calls.set(callId, line)
    this.onChange(budget, 1)
  }

  private leave(callId: number, launch: number): void {
    const line = this.calls.get(callId)
    const budget = line?.get(launch)
    if (line === undefined || budget === undefined) return
    line.delete(launch)
    if (line.size === 0) this.calls.delete(callId)
    this.onChange(budget, -1)
  }

  /** An attempt that is over leaves nobody in line: a call waits either for its time or for a budget. */
  private leaveAll(callId: number): void {
    for (const launch of this.calls.get(callId)?.keys() ?? []) this.leave(callId, launch)
  }
}
