/**
 * Errors of hooks that must not change a call: a throwing observer, release or poll. Imports core only.
 */
import { isPromise } from '../core/answer.js'

const reported = new Set<string>()
const MAX_REPORTED = 100

/** Shows the error as the host shows warnings. */
export function report(error: unknown): void {
  warn(describe(error))
}

/** Shows the text as the host shows warnings, once. */
export function warn(text: string): void {
  if (reported.has(text) || reported.size >= MAX_REPORTED) return
  reported.add(text)
  const host = (globalThis as { process?: { emitWarning?(message: string, type: string): void } }).process
  if (typeof host?.emitWarning === 'function') host.emitWarning(text, 'RepriseWarning')
  else console.warn(text)
}

/** A hook that should be synchronous but answers with a promise: a rejection of it is reported, not left unhandled. */
export function reportLater(result: unknown): void {
  isPromise(result, report)
}

function describe(error: unknown): string {
  try {
    return `reprise: a hook threw: ${String(error)}`
  } catch {
    return 'reprise: a hook threw something that cannot be shown'
  }
}
