/** The ledger's time as far as this process knows it, without asking. Imports the runtime's environment. */
import type { Environment } from '../runtime/environment.js'

/** The ledger's clock need not be this process's. */
export class LedgerClock {
  private readonly environment: Environment
  private aheadMs = 0

  constructor(environment: Environment) {
    this.environment = environment
  }

  get nowMs(): number {
    return this.environment.exactMs() + this.aheadMs
  }

  /** The ledger has said what time it is. */
  heard(ledgerMs: number): void {
    this.aheadMs = ledgerMs - this.environment.exactMs()
  }
}
