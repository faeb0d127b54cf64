/** A reporter that tells `scripts/run-tests.mjs` how the run ended. Later, what is still open is printed. Imports vitest's types. */
import type { Reporter, TestRunEndReason } from 'vitest/node'

/** Before `scripts/run-tests.mjs` kills the process. */
const CLOSING_MS = 20_000

export default class ReportEnd implements Reporter {
  onTestRunEnd(_modules: unknown, _errors: unknown, reason: TestRunEndReason): void {
    process.send?.({ code: reason === 'passed' ? 0 : 1 })
    setTimeout(() => console.error(`Still open: ${process.getActiveResourcesInfo().join(', ')}`), CLOSING_MS).unref()
  }
}
