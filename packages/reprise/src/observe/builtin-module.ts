/**
 * Modules of the runtime without importing them, so that this layer loads where there are none.
 * Imports nothing.
 */
interface Runtime {
  readonly process?: { readonly getBuiltinModule?: (id: string) => unknown }
}

/** The module, or undefined in a runtime that does not have it. */
export function builtinModule(id: 'node:diagnostics_channel' | 'node:module'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
}
