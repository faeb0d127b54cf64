/**
 * All timeouts and waits of a process behind one host timer: a hierarchical wheel with slots of 1, 64, 64² … ms.
 * Schedule and cancel are O(1) and allocate nothing: the links live on the timer itself. A timer never fires early.
 *
 * Invariants: `current` is the last tick that was processed; every scheduled timer that is not deferred sits in the slot
 * of its due tick at the lowest level that reaches it; deferred ones sit in none until the turn ends; a slot of level n > 0 is spread over the lower levels when its first tick comes.
 * The host timer is armed for a moment no later than the next slot with something in it, and keeps the process alive
 * only while something is scheduled. Imports core only.
 */
import type { Timer } from '../core/time.js'

const SLOTS = 64
const LEVELS = 6
const LEVEL_BITS = Math.log2(SLOTS)
/** Below this a tick can be shifted, which costs far less than dividing: 24 days of uptime. */
const MAX_SHIFTED = 2 ** 31
/** How far ahead a slot can be: the top level has to be one short of a full turn. */
const REACH = SLOTS ** LEVELS - SLOTS ** (LEVELS - 1)
/** The longest wait a host timer can hold. */
const HOST_MAX_MS = 2 ** 31 - 1

/** Fields that the wheel keeps on a timer while it is scheduled. Declare them on a timer class to keep its shape. */
export interface WheelLinks {
  wheelNext?: WheelNode | undefined
  wheelPrev?: WheelNode | undefined
  wheelDue?: number
}

type WheelNode = WheelLinks & Partial<Timer>

/** What a deferred timer is linked to: it is scheduled, and in no slot yet. */
const DEFERRED: WheelNode = Object.freeze({})

/** What the wheel needs of its surroundings; `arm` replaces whatever was armed before. */
export interface WheelHost {
  nowMs(): number
  arm(delayMs: number): void
  /** Whether the armed timer keeps the process alive. */
  hold(alive: boolean): void
}

export class TimerWheel {
  readonly #host: WheelHost
  readonly #slots: WheelNode[] = []
  #current: number
  #armedAt = Infinity
  #size = 0
  /** Those that were deferred and, among them, cancelled since; the first `#deferrals` count. */
  readonly #deferred: (Timer & WheelLinks)[] = []
  #deferrals = 0

  constructor(host: WheelHost) {
    this.#host = host
    this.#current = Math.floor(host.nowMs())
    for (let i = 0; i < SLOTS * LEVELS; i++) {
      const head: WheelNode = { wheelNext: undefined, wheelPrev: undefined, wheelDue: 0 }
      head.wheelNext = head
      head.wheelPrev = head
      this.#slots.push(head)
    }
  }

  schedule(timer: Timer & WheelLinks, atMs: number): void {
    if (timer.wheelNext !== undefined) this.cancel(timer)
    if (this.#armedAt === Infinity) this.#current = Math.floor(this.#host.nowMs())
    timer.wheelDue = Math.min(Math.ceil(atMs), Number.MAX_SAFE_INTEGER)
    this.#insert(timer)
    if (this.#size++ === 0) this.#host.hold(true)
    if (timer.wheelDue < this.#armedAt) this.#arm()
  }

  cancel(timer: Timer & WheelLinks): void {
    if (timer.wheelNext === undefined) return
    if (isDeferred(timer)) {
      timer.wheelNext = undefined
      return
    }
    unlink(timer)
    if (--this.#size === 0) this.#host.hold(false)
  }

  /**
   * Like `schedule`, but the timer takes its slot only when `takeDeferred` is called, which must be before the end of the
   * turn. Most limits of calls are cancelled before, and cost next to nothing.
   */
  defer(timer: Timer & WheelLinks, atMs: number): void {
    if (timer.wheelNext !== undefined) this.cancel(timer)
    timer.wheelDue = Math.ceil(atMs)
    timer.wheelNext = DEFERRED
    this.#deferred[this.#deferrals++] = timer
  }

  /** Schedules what was deferred and not cancelled, each `laterMs` later than it was deferred to. */
  takeDeferred(laterMs: number): void {
    const count = this.#deferrals
    this.#deferrals = 0
    for (let i = 0; i < count; i++) {
      const timer = this.#deferred[i] as Timer & WheelLinks
      if (!isDeferred(timer)) continue
      timer.wheelNext = undefined
      this.schedule(timer, (timer.wheelDue as number) + laterMs)
    }
  }

  /** Lets go of timers that were deferred and are over. */
  forgetDeferred(): void {
    this.#deferred.length = this.#deferrals
  }

  /** To be called when the armed time has come. A timer that throws does not keep the others from firing. */
  advance(): void {
    this.#armedAt = -Infinity
    try {
      const now = Math.floor(this.#host.nowMs())
      for (let next = this.#nextTick(); next <= now; next = this.#nextTick()) {
        this.#current = next
        this.#spread(next)
        this.#fireSlot(next)
      }
    } finally {
      this.#armedAt = Infinity
      if (this.#size > 0) this.#arm()
    }
  }

  #arm(): void {
    const next = this.#nextTick()
    const wait = Math.min(Math.max(1, Math.ceil(next - this.#host.nowMs())), HOST_MAX_MS)
    this.#armedAt = next
    this.#host.arm(wait)
  }

  #insert(timer: WheelNode): void {
    // What is due already fires with the next tick: the current one has been processed.
    // What is beyond the wheel waits in its farthest slot, and is looked at again when that comes.
    const due = Math.min(Math.max(timer.wheelDue as number, this.#current + 1), this.#current + REACH)
    const distance = due - this.#current
    let level = 0
    for (let turn = SLOTS; distance >= turn && level < LEVELS - 1; turn *= SLOTS) level++
    linkLast(this.#slots[level * SLOTS + slotOf(due, level)] as WheelNode, timer)
  }

  /** The first tick after `current` at which a slot has to be looked at; `Infinity` when nothing is scheduled. */
  #nextTick(): number {
    if (this.#size === 0) return Infinity
    let nearest = Infinity
    let span = 1
    for (let level = 0; level < LEVELS; level++, span *= SLOTS) {
      const position = Math.floor(this.#current / span)
      for (let ahead = 1; ahead <= SLOTS && (position + ahead) * span < nearest; ahead++) {
        const head = this.#slots[level * SLOTS + ((position + ahead) % SLOTS)] as WheelNode
        if (head.wheelNext !== head) nearest = (position + ahead) * span
      }
    }
    return nearest
  }

  /** Spreads the higher slots that begin at `tick` over the lower levels, highest first. */
  #spread(tick: number): void {
    for (let level = LEVELS - 1, span = SLOTS ** level; level > 0; level--, span /= SLOTS) {
      if (tick % span !== 0) continue
      const head = this.#slots[level * SLOTS + ((tick / span) % SLOTS)] as WheelNode
      for (let node = head.wheelNext as WheelNode; node !== head; node = head.wheelNext as WheelNode) {
        unlink(node)
        if ((node.wheelDue as number) <= tick) linkLast(this.#slots[tick % SLOTS] as WheelNode, node)
        else this.#insert(node)
      }
    }
  }

  #fireSlot(tick: number): void {
    const head = this.#slots[tick % SLOTS] as WheelNode
    try {
      for (let node = head.wheelNext as WheelNode; node !== head; node = head.wheelNext as WheelNode) {
        unlink(node)
        if (--this.#size === 0) this.#host.hold(false)
        ;(node as Timer).fire()
      }
    } finally {
      // Only after a timer that threw is there something left: it fires with the next tick.
      for (let node = head.wheelNext as WheelNode; node !== head; node = head.wheelNext as WheelNode) {
        unlink(node)
        this.#insert(node)
      }
    }
  }
}

/** Whether it is scheduled and has taken no slot yet. */
export function isDeferred(timer: WheelLinks): boolean {
  return timer.wheelNext === DEFERRED
}

/** The slot of a level that a tick belongs to. */
function slotOf(tick: number, level: number): number {
  if (tick < MAX_SHIFTED) return (tick >> (level * LEVEL_BITS)) & (SLOTS - 1)
  return Math.floor(tick / SLOTS ** level) % SLOTS
}

function linkLast(head: WheelNode, node: WheelNode): void {
  const last = head.wheelPrev as WheelNode
  node.wheelNext = head
  node.wheelPrev = last
  last.wheelNext = node
  head.wheelPrev = node
}

function unlink(node: WheelNode): void {
  const next = node.wheelNext as WheelNode
  const prev = node.wheelPrev as WheelNode
  prev.wheelNext = next
  next.wheelPrev = prev
  node.wheelNext = undefined
  node.wheelPrev = undefined
}
