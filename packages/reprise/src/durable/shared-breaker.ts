/**
 * A breaker that many processes have in common: what the ledger says of it is the breaker, and this one is what a
 * transaction counts with. Imports core and the ledger's types.
 *
 * Invariants: epochs mean the same in every process, since they are part of the state; so a result is counted by whoever
 * hears of it, and a probe's slot is given back by whoever finds that its process is gone. Changes are told once they are
 * committed: those of a transaction that was undone go with its state.
 */
import { Breaker, type BreakerListener, type BreakerState } from '../core/breaker.js'
import { BreakerStateError } from '../core/errors.js'
import type { BreakerPolicy } from '../core/policy.js'
import type { BreakerPhase } from '../core/words.js'
import type { Json } from '../ledger/records.js'

/** With what one process alone need not write down. Records of earlier versions lack it. */
export interface SharedBreakerState extends BreakerState {
  readonly epoch: number
  /** Slots that attempts hold, in all processes together. */
  readonly probes: number
  readonly successes: number
  /** When it was opened last; absent if it never was. What is left to wait is never more than there was then. */
  readonly openedAtMs?: number
  /** When an attempt that counts last failed; absent if none has. */
  readonly lastFailureAtMs?: number
}

export class SharedBreaker extends Breaker {
  private readonly tell: BreakerListener
  private changes: [from: BreakerPhase, to: BreakerPhase][] = []
  /** As it was told last. */
  private told: BreakerPhase = 'closed'

  constructor(key: string, policy: BreakerPolicy, tell: BreakerListener) {
    super(key, policy, (from, to) => this.changes.push([from, to]))
    this.tell = tell
  }

  override snapshot(): SharedBreakerState {
    const { epoch, probes, successes, openedAtMs, lastFailureAtMs } = this
    return {
      ...super.snapshot(),
      epoch,
      probes,
      successes,
      ...(openedAtMs > 0 && { openedAtMs }),
      ...(lastFailureAtMs !== null && { lastFailureAtMs }),
    }
  }

  /** As it was, with the slots that are taken; a state that says nothing of them leaves none taken. */
  override restore(state: BreakerState & Partial<SharedBreakerState>): void {
    if (isShared(state)) {
      const counts = [state.epoch, state.probes, state.successes]
      if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0))
        throw new BreakerStateError(this.key, state)
    }
    super.restore(state)
    this.openedAtMs = state.openedAtMs ?? 0
    this.lastFailureAtMs = state.lastFailureAtMs ?? null
    if (isShared(state)) {
      this.current = state.phase
      this.epoch = state.epoch
      this.probes = state.probes
      this.successes = state.successes
    }
    this.changes = this.told === this.current ? [] : [[this.told, this.current]]
  }

  /** What it was before this process came is no change. */
  begin(): void {
    this.changes = []
    this.told = this.current
  }

  /** What happened to it is committed: whoever watches hears of it. */
  announce(): void {
    for (const [from, to] of this.changes.splice(0)) {
      this.told = to
      this.tell(from, to)
    }
  }
}

export function isShared(state: BreakerState & Partial<SharedBreakerState>): state is SharedBreakerState {
  return state.epoch !== undefined
}

/** The next epoch, if that of this state is known: nothing that was begun before counts any more. */
export function nextEra(state: Json): Omit<SharedBreakerState, keyof BreakerState> | undefined {
  const { epoch } = (state ?? {}) as Partial<SharedBreakerState>
  return Number.isSafeInteger(epoch) ? { epoch: (epoch as number) + 1, probes: 0, successes: 0 } : undefined
}

/** The state without a slot that was held since this epoch, if it still is: for who knows nothing else of the breaker. */
export function withoutProbe(state: Json, epoch: number): Json {
  const shared = (state ?? {}) as Partial<SharedBreakerState>
  const { phase, probes = 0 } = shared
  return phase === 'half_open' && shared.epoch === epoch && probes > 0 ? { ...shared, probes: probes - 1 } : state
}
