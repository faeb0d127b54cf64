/**
 * How a call begins, once its plan is found: as a bare `.then`, with its first attempt, or with a `Call` from the start.
 * Imports core and the runtime's parts.
 */
import { Call } from './call.js'
import type { Operation } from './context.js'
import { runBare, runFirst } from './first.js'
import type { Inspector } from './inspection.js'
import type { Plan } from './plan.js'
import { expectSignal } from './signal-hub.js'

/** `inspector`: the promise resolves to an inspection and never rejects. */
export function startCall(
  plan: Plan,
  operation: Operation<unknown>,
  signal: AbortSignal | undefined,
  inspector: Inspector | null,
): Promise<unknown> {
  if (!plan.light || signal !== undefined) {
    return Call.open(plan, operation, signal, inspector, (call) => call.begin(undefined))
  }
  return plan.bare && inspector === null ? runBare(plan, operation) : runFirst(plan, operation, inspector)
}

/** `key`: of executors, whose first argument it is. */
export function expectCall(operation: unknown, signal: unknown, key?: unknown): void {
  if (typeof operation !== 'function') throw notAFunction(operation, key)
  if (signal !== undefined) expectSignal(signal)
}

export function notAFunction(operation: unknown, key?: unknown): TypeError {
  const isPromise = operation instanceof Promise
  const kind = isPromise ? 'a promise' : operation === null ? 'null' : typeof operation
  const cure = typeof key === 'function' ? ': the key comes first' : isPromise ? ': write `() => fetch(url)`' : ''
  return new TypeError(`The operation must be a function, not ${kind}${cure}`)
}
