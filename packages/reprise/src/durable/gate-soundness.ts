/**
 * Which gates cannot be used, and why: their rows cannot be, or they threw where they were to take in their record or to
 * say what they are. Imports the ledger's types, the report of hooks and its own layer.
 */
import type { GateRecord } from '../ledger/records.js'
import { report } from '../runtime/hook-errors.js'
import { gateFaults } from './gate-check.js'
import type { GateFailure } from './gate-memory.js'

export const NO_FAULTS: readonly string[] = []

export class GateSoundness {
  /** By key: what of the row cannot be. */
  private readonly damaged = new Map<string, readonly string[]>()
  /** By key: what the gate could not do. */
  private readonly failures = new Map<string, GateFailure>()

  /** Whether nothing is known against any gate. */
  get isWhole(): boolean {
    return this.damaged.size === 0 && this.failures.size === 0
  }

  /** Looks at the row as it is now. */
  isDamaged(key: string, gate: GateRecord | undefined): boolean {
    const faults = gate === undefined ? NO_FAULTS : gateFaults(gate)
    if (faults.length > 0) this.damaged.set(key, faults)
    else if (this.damaged.size > 0) this.damaged.delete(key)
    return faults.length > 0
  }

  /** Whether its row could not be when it was last looked at. */
  hasDamaged(key: string): boolean {
    return this.damaged.has(key)
  }

  /** What the gate could not do when it was last asked; undefined if it could. */
  note(key: string, failure: GateFailure | undefined): void {
    if (failure === undefined) {
      if (this.failures.size > 0) this.failures.delete(key)
      return
    }
    this.failures.set(key, failure)
    report(failure.error)
  }

  failureOf(key: string): GateFailure | undefined {
    return this.failures.get(key)
  }

  /** What `act` gives; undefined if it throws, which is noted. */
  attempt<T>(key: string, verb: GateFailure['verb'], act: () => T): T | undefined {
    try {
      const answer = act()
      this.note(key, undefined)
      return answer
    } catch (error) {
      this.note(key, { verb, error })
      return undefined
    }
  }

  forget(key: string): void {
    this.damaged.delete(key)
    this.failures.delete(key)
  }

  faultsOf(key: string): readonly string[] {
    const [kind, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]
    const said = this.damaged.get(key) ?? wordsOf(this.failures.get(key))
    return said.map((fault) => `${kind} ${name}: ${fault}`)
  }
}

/** What a gate could not do, as a fault. */
function wordsOf(failure: GateFailure | undefined): readonly string[] {
  if (failure === undefined) return NO_FAULTS
  const what = failure.verb === 'restore' ? 'it cannot take in what is recorded of it' : 'it cannot say its state'
  const { error } = failure
  return [`${what} (${error instanceof Error ? error.message : String(error)})`]
}
