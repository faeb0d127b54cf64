/** The ledger's time as far as this process knows it, without asking. Imports the runtime's environment. */
import type { Environment } from '../runtime/environment.js'

/** The ledger's clock need not be this process's. */
export class LedgerClock {
  private readonly environment: Environment
  /** Undefined until the ledger has said what time it is. */
  private aheadMs: number | undefined = undefined

  constructor(environment: Environment) {
    this.environment = environment
  }

  get nowMs(): number {
    return this.environment.exactMs() + (this.aheadMs ?? 0)
  }

  /** What has passed since then, on the ledger's clock; 0 if its time is not known here yet. */
  since(ledgerMs: number): number {
    return this.aheadMs === undefined ? 0 : Math.max(0, this.nowMs - ledgerMs)
  }

  /** The ledger has said what time it is. */
  heard(ledgerMs: number): void {
    this.aheadMs = ledgerMs - this.environment.exactMs()
  }
}
