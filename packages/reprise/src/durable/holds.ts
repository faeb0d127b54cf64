/**
 * Queues that this process claims nothing from for now, because a gate would deny it: a limit of the queue itself, a
 * breaker or a budget. A hold ends when the gate says so, when an attempt that the gate had allowed ends, or with the next
 * poll, which finds changes by hand and those of other processes. Nothing of it is written: it is each process's own, and
 * gone with it. Imports the order of claims.
 *
 * A hold is of the ranks that were denied: a budget may deny retries and allow first attempts, which may even be what it
 * lives of. Interrupted attempts have their grant, and only a breaker holds them.
 *
 * Invariants: a hold that was found by a claim counts only if nothing was released while the claim ran: a place that came
 * free meanwhile would otherwise be noticed by the next poll alone. Observers hear of a hold once, however often the gate
 * denies it again, and of its end when a task of the queue has started and none was denied with it.
 */

import { RANK_NUMBERS } from '../ledger/claim-order.js'

/** Why an attempt was denied, and when it is worth asking again. */
export interface Denial {
  /** The key of the gate: `breaker:mail`. */
  readonly gate: string
  readonly reason: string
  /**
   * How long until the gate allows an attempt by itself; `Infinity`: when somebody changes it. Undefined: when another
   * attempt ends.
   */
  readonly waitMs: number | undefined
}

interface Hold {
  readonly gate: string
  /** On the scale of this process's clock. */
  readonly releaseAtMs: number | undefined
}

export interface HoldListener {
  held(queue: string, denial: Denial): void
  released(queue: string, denial: Denial): void
}

export class Holds {
  private readonly listener: HoldListener
  /** By queue, then by rank. */
  private readonly holds = new Map<string, Map<number, Hold>>()
  /** Holds that observers have heard of. */
  private readonly told = new Map<string, Denial>()
  private releases = 0

  constructor(listener: HoldListener) {
    this.listener = listener
  }

  /** To be handed to `full` and `deny` by a claim that begins now. */
  get mark(): number {
    return this.releases
  }

  /** When the next hold ends by itself; `Infinity` for none. */
  get nextAtMs(): number {
    let next = Infinity
    for (const ranks of this.holds.values())
      for (const { releaseAtMs = Infinity } of ranks.values()) next = Math.min(next, releaseAtMs)
    return next
  }

  get hasTold(): boolean {
    return this.told.size > 0
  }

  /** The ranks of the queue that may be claimed; undefined for all. */
  openRanks(queue: string): readonly number[] | undefined {
    const held = this.holds.get(queue)
    return held && RANK_NUMBERS.filter((rank) => !held.has(rank))
  }

  /** The queue has no place left. False if something was released since `mark`: it has to be looked at again. */
  full(queue: string, gate: string, mark: number): boolean {
    return this.untilAnEnd(queue, RANK_NUMBERS, gate, mark)
  }

  /** A task of the queue was denied. False as for `full`, unless the gate has said how long to wait. */
  deny(queue: string, rank: number, denial: Denial, mark: number, nowMs: number): boolean {
    const { gate, waitMs } = denial
    const ranks = gate.startsWith('breaker:') ? RANK_NUMBERS : [rank]
    if (!this.told.has(queue)) {
      this.told.set(queue, denial)
      this.listener.held(queue, denial)
    }
    if (waitMs === undefined) return this.untilAnEnd(queue, ranks, gate, mark)
    // At least a millisecond: rounding must not make it a loop.
    this.set(queue, ranks, { gate, releaseAtMs: nowMs + Math.max(1, waitMs) })
    return true
  }

  /** The rate of the queue allows no start for so long. Observers are not told: it happens after every burst. */
  pace(queue: string, gate: string, waitMs: number, nowMs: number): void {
    this.set(queue, RANK_NUMBERS, { gate, releaseAtMs: nowMs + Math.max(1, waitMs) })
  }

  private untilAnEnd(queue: string, ranks: readonly number[], gate: string, mark: number): boolean {
    if (mark !== this.releases) return false
    this.set(queue, ranks, { gate, releaseAtMs: undefined })
    return true
  }

  private set(queue: string, ranks: readonly number[], hold: Hold): void {
    const held = this.holds.get(queue) ?? new Map<number, Hold>()
    for (const rank of ranks) held.set(rank, hold)
    this.holds.set(queue, held)
  }

  /** A task of the queue has started, and none was denied with it. `isAsked`: the budget was asked, too. */
  started(queue: string, isAsked: boolean): void {
    const denial = this.holds.has(queue) ? undefined : this.told.get(queue)
    if (denial === undefined || (!isAsked && denial.gate.startsWith('budget:'))) return
    this.told.delete(queue)
    this.listener.released(queue, denial)
  }

  /** An attempt that these gates had allowed has ended. Whether a queue waited for that. */
  attemptEnded(gates: readonly string[]): boolean {
    this.releases++
    return this.drop(({ gate, releaseAtMs }) => releaseAtMs === undefined && gates.includes(gate))
  }

  /** Ends the holds whose time has come. */
  expire(nowMs: number): void {
    if (this.holds.size > 0) this.drop(({ releaseAtMs = Infinity }) => releaseAtMs <= nowMs)
  }

  /** Attempts may have ended in other processes. */
  releaseUntimed(): void {
    this.releases++
    this.drop(({ releaseAtMs }) => releaseAtMs === undefined)
  }

  /** Somebody may have changed a gate by hand. */
  releaseAll(): void {
    this.releases++
    this.holds.clear()
  }

  private drop(isOver: (hold: Hold) => boolean): boolean {
    let isDropped = false
    for (const [queue, held] of this.holds) {
      for (const [rank, hold] of held) if (isOver(hold)) isDropped = held.delete(rank)
      if (held.size === 0) this.holds.delete(queue)
    }
    return isDropped
  }
}
