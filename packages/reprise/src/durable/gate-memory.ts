/**
 * One budget or breaker of this process, and what the ledger says of it. Imports the ledger's types.
 *
 * Invariant: whenever a transaction asks the gate, it is what the ledger says, and nothing else: what was decided in a
 * transaction that was undone, or that threw, is forgotten before the next one asks. So the function that decides may
 * run any number of times, and tells the gate everything each time. That two transactions do not ask at once is the
 * ledger's doing, which locks the gate's row.
 */
import type { Json } from '../ledger/records.js'

/** Something that says what it is, and can be set to it. */
export interface Kept {
  snapshot(): unknown
  restore(state: unknown): void
}

/** Takes in what the ledger says, where that needs to be judged. */
export type Reading = (state: Json, isChangedByHand: boolean) => void

export class GateMemory {
  private readonly gate: Kept
  private readonly read: Reading
  /** Without a record it is as it was made. */
  private readonly made: unknown
  /** What was written last, and whether the gate is that still, as far as this process knows. */
  private text: string | undefined
  private state: unknown
  private isWritten = true
  /** What the ledger said last, and what that means here. */
  private base: { readonly text: string | undefined; readonly state: unknown }

  /** `stored`: what it begins with. */
  constructor(gate: Kept, stored: Json | undefined, read: Reading = (state) => gate.restore(state)) {
    this.gate = gate
    this.read = read
    this.made = gate.snapshot()
    if (stored !== undefined) gate.restore(stored)
    this.text = textOf(stored)
    this.state = stored === undefined ? this.made : gate.snapshot()
    this.base = { text: this.text, state: this.state }
  }

  /** To be called before the gate is asked. What is no news is left alone: calls beside the ledger may have used it. */
  refresh(state: Json | undefined, isChangedByHand: boolean): void {
    const text = textOf(state)
    const isNews = !this.isWritten || text !== this.text
    this.isWritten = false
    if (!isNews) this.base = { text, state: this.state }
    else if (text === this.base.text && !isChangedByHand) this.gate.restore(this.base.state)
    else {
      if (state === undefined) this.gate.restore(this.made)
      else this.read(state, isChangedByHand)
      this.base = { text, state: this.gate.snapshot() }
    }
  }

  /** As it is to be written. */
  record(): Json {
    this.state = this.gate.snapshot()
    this.text = JSON.stringify(this.state)
    this.isWritten = true
    return this.state as Json
  }
}

function textOf(state: Json | undefined): string | undefined {
  return state === undefined ? undefined : JSON.stringify(state)
}
