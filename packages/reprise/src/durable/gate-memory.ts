/**
 * One budget or breaker of this process, and what the ledger says of it. Imports core and the ledger's types.
 *
 * Invariant: whenever a transaction asks the gate, it is what the ledger says, and nothing else: what was decided in a
 * transaction that was undone, or that threw, is forgotten before the next one asks. So the function that decides may
 * run any number of times, and tells the gate everything each time. That two transactions do not ask at once is the
 * ledger's doing, which locks the gate's row.
 */
import { isPromise, PROMISED } from '../core/answer.js'
import type { Json } from '../ledger/records.js'

/** Something that says what it is, and can be set to it. */
export interface Kept {
  snapshot(): unknown
  restore(state: unknown): unknown
}

/** Takes in what the ledger says, where that needs to be judged. */
export type Reading = (state: Json, isChangedByHand: boolean) => unknown

/** What a gate could not do, and what it threw. */
export interface GateFailure {
  readonly verb: 'restore' | 'snapshot'
  readonly error: unknown
}

export class GateMemory {
  private readonly gate: Kept
  private readonly read: Reading
  /** Without a record it is as it was made. */
  private made: unknown
  /** What was written last, and whether the gate is that still, as far as this process knows. */
  private text: string | undefined
  private state: unknown
  private isWritten = true
  /** What the ledger said last, and what that means here. */
  private base: { readonly text: string | undefined; readonly state: unknown } | undefined
  /**
   * What the gate threw where it was to take in its record or to say what it is. It stands for nothing then: no attempt
   * may be granted by it, and nothing of it is written. Undefined while it is sound.
   */
  failure: GateFailure | undefined = undefined

  /** `stored`: what it begins with. */
  constructor(gate: Kept, stored: Json | undefined, read: Reading = (state) => gate.restore(state)) {
    this.gate = gate
    this.read = read
    this.guard('snapshot', () => {
      this.made = this.snapshot()
    })
    this.text = textOf(stored)
    this.guard('restore', () => {
      if (stored !== undefined) expectDone(gate.restore(stored))
      this.state = stored === undefined ? this.made : this.snapshot()
      this.base = { text: this.text, state: this.state }
    })
  }

  /** To be called before the gate is asked. What is no news is left alone: calls beside the ledger may have used it. */
  refresh(state: Json | undefined, isChangedByHand: boolean): void {
    const text = textOf(state)
    // Half of a record that could not be taken in may be in the gate.
    const isNews = !this.isWritten || text !== this.text || this.failure !== undefined
    this.isWritten = false
    this.failure = undefined
    this.guard('restore', () => {
      if (!isNews) this.base = { text, state: this.state }
      else if (this.base !== undefined && text === this.base.text && !isChangedByHand)
        expectDone(this.gate.restore(this.base.state))
      else {
        this.base = undefined
        expectDone(state === undefined ? this.gate.restore(this.made) : this.read(state, isChangedByHand))
        this.base = { text, state: this.snapshot() }
      }
    })
  }

  /** As it is to be written; undefined if the gate cannot say it. */
  record(): Json | undefined {
    this.guard('snapshot', () => {
      this.state = this.snapshot()
      this.text = textOfSnapshot(this.state)
      this.isWritten = true
    })
    return this.failure === undefined ? (this.state as Json) : undefined
  }

  private snapshot(): unknown {
    const state = this.gate.snapshot()
    if (isPromise(state)) throw new TypeError(`snapshot ${PROMISED}`)
    return state
  }

  private guard(verb: GateFailure['verb'], act: () => void): void {
    if (this.failure !== undefined) return
    try {
      act()
    } catch (error) {
      this.failure = { verb, error }
    }
  }
}

function textOf(state: Json | undefined): string | undefined {
  return state === undefined ? undefined : JSON.stringify(state)
}

/** A gate that takes in its record later would be asked before it has. */
function expectDone(answer: unknown): void {
  if (isPromise(answer)) throw new TypeError(`restore ${PROMISED}`)
}

/** Throws if it is nothing that a ledger can keep. */
export function textOfSnapshot(snapshot: unknown): string {
  if (isPromise(snapshot)) throw new TypeError(`snapshot ${PROMISED}`)
  const text = JSON.stringify(snapshot) as string | undefined
  if (text === undefined) throw new TypeError(`its snapshot is ${typeof snapshot}: what is kept must be JSON`)
  return text
}
