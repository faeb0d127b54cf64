/**
 * The caller's async context, so that a retry, a hedge or a woken call runs where its call was made and not where a
 * timer fired. Node's `AsyncResource` is found at run time: the root entry imports nothing of Node.
 * Imports nothing.
 */

export interface AsyncScope {
  emitDestroy(): void
  runInAsyncScope<A>(fn: (argument: A) => void, thisArg: undefined, argument: A): void
}

type ScopeClass = new (type: string, options: { requireManualDestroy: boolean }) => AsyncScope

interface HostProcess {
  getBuiltinModule?(id: string): { AsyncResource: ScopeClass } | undefined
}

let scopeClass: ScopeClass | null | undefined
const OPTIONS = { requireManualDestroy: true }

function findScopeClass(): ScopeClass | null {
  const host = (globalThis as { process?: HostProcess }).process
  return host?.getBuiltinModule?.('node:async_hooks')?.AsyncResource ?? null
}

/** The scope of the running code, or null where the host keeps none. */
export function captureScope(): AsyncScope | null {
  if (scopeClass === undefined) scopeClass = findScopeClass()
  return scopeClass === null ? null : new scopeClass('Reprise', OPTIONS)
}

export function runIn<A>(scope: AsyncScope | null, fn: (argument: A) => void, argument: A): void {
  if (scope === null) fn(argument)
  else scope.runInAsyncScope(fn, undefined, argument)
}
