/**
 * One listener per caller's signal, however many calls wait on it: adding ten thousand listeners to one signal costs
 * a walk each, and warns of a leak. Imports core only.
 */
import { OptionsError } from '../core/errors.js'
import { isNot } from '../core/problems.js'

export interface AbortListener {
  onAbort(reason: unknown): void
}

class SignalHub {
  readonly listeners = new Set<AbortListener>()
  private readonly signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.signal = signal
  }

  readonly fanOut = (): void => {
    hubs.delete(this.signal)
    for (const listener of this.listeners) listener.onAbort(this.signal.reason)
  }
}

const hubs = new WeakMap<AbortSignal, SignalHub>()

/** What is not a signal is told apart before anything starts: a controller passed by mistake is the usual case. */
export function expectSignal(signal: unknown): void {
  const { aborted, addEventListener } = Object(signal) as Partial<AbortSignal>
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return
  const isController = typeof (signal as { abort?: unknown } | null)?.abort === 'function'
  const suggestion = isController ? { suggestion: 'pass controller.signal' } : {}
  throw new OptionsError('the call', [{ path: 'signal', message: isNot(signal, 'an AbortSignal'), ...suggestion }])
}

export function listenTo(signal: AbortSignal, listener: AbortListener): void {
  let hub = hubs.get(signal)
  if (hub === undefined) {
    hub = new SignalHub(signal)
    hubs.set(signal, hub)
    signal.addEventListener('abort', hub.fanOut, { once: true })
  }
  hub.listeners.add(listener)
}

export function stopListening(signal: AbortSignal, listener: AbortListener): void {
  const hub = hubs.get(signal)
  if (hub === undefined || !hub.listeners.delete(listener) || hub.listeners.size > 0) return
  hubs.delete(signal)
  signal.removeEventListener('abort', hub.fanOut)
}
