/**
 * Sweeps now and then, as long as the driver works. Every process does, since nobody knows which will be there: a sweep
 * that finds nothing costs a few reads. Imports its own layer.
 *
 * Invariants: it keeps no process alive; after `end` nothing of it is under way.
 */
import { isTransient } from './persistence.js'
import { pauseAfterMs, type Retention, type Swept } from './retention.js'

export interface SweeperParts {
  readonly retention: Retention
  /** The ledger cannot be used any more. */
  readonly onFailure: (error: unknown) => void
  /** Until the first sweep, so that starting has the ledger to itself; then what `pause` says. */
  readonly firstMs?: number
  readonly pause?: (swept: Swept) => number
}

export class Sweeper {
  private readonly parts: SweeperParts
  private timer: NodeJS.Timeout | undefined = undefined
  private sweeping: Promise<void> | undefined = undefined
  private ended = false

  constructor(parts: SweeperParts) {
    this.parts = parts
  }

  begin(): void {
    this.schedule(this.parts.firstMs ?? 10_000)
  }

  async end(): Promise<void> {
    this.ended = true
    clearTimeout(this.timer)
    this.parts.retention.stop()
    await this.sweeping
  }

  private schedule(delayMs: number): void {
    if (this.ended) return
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep()
    }, delayMs)
    this.timer.unref()
  }

  private async sweep(): Promise<void> {
    const { retention, onFailure, pause = pauseAfterMs } = this.parts
    try {
      this.schedule(pause(await retention.sweep()))
    } catch (error) {
      // Somebody else has held the store for long: there is nothing that could not wait.
      if (isTransient(error)) this.schedule(60_000)
      else if (!this.ended) onFailure(error)
    }
  }
}
