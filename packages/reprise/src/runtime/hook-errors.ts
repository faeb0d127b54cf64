/**
 * Errors of hooks that must not change a call: a throwing observer, release or poll. Imports nothing.
 */

const reported = new Set<string>()
const MAX_REPORTED = 100

/** Shows the error as the host shows warnings, once per text. */
export function report(error: unknown): void {
  const text = describe(error)
  if (reported.has(text) || reported.size >= MAX_REPORTED) return
  reported.add(text)
  const host = (globalThis as { process?: { emitWarning?(message: string, type: string): void } }).process
  if (typeof host?.emitWarning === 'function') host.emitWarning(text, 'RepriseWarning')
  else console.warn(text)
}

/** A hook that should be synchronous but answers with a promise: a rejection of it is reported, not left unhandled. */
export function reportLater(result: unknown): void {
  if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return
  Promise.resolve(result).then(undefined, report)
}

function describe(error: unknown): string {
  try {
    return `reprise: a hook threw: ${String(error)}`
  } catch {
    return 'reprise: a hook threw something that cannot be shown'
  }
}
