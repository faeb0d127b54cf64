/**
 * The clock of the process: one timer wheel for everything, and a time that is read once per turn where that will do.
 * Works wherever there is `performance` and `setTimeout`; `unref` and `setImmediate` are used where they exist.
 * Imports core and the wheel.
 */
import type { Clock, Timer } from '../core/time.js'
import { TimerWheel } from './timer-wheel.js'
import { type TurnListener, TurnTime } from './turn-time.js'

/** A zero wait is a microtask, but every so often a turn of the event loop, so that timers and I/O are not starved. */
const MICROTASKS_BETWEEN_TURNS = 16

const RESOLVED = Promise.resolve()

class SystemClock implements Clock, TurnListener {
  #wheel: TimerWheel | undefined
  #handle: ReturnType<typeof setTimeout> | undefined
  readonly #turn = new TurnTime(monotonic, this)
  #microtasks = 0

  wallMs(): number {
    return Date.now()
  }

  monotonicMs(): number {
    return performance.now()
  }

  turnMs(): number {
    return this.#turn.nowMs()
  }

  schedule(timer: Timer, atMs: number): void {
    this.#wheel ??= this.#createWheel()
    this.#wheel.schedule(timer, atMs)
  }

  /** Counts from the time of the turn. What that turns out to have been too early is made up for in `lagged`. */
  scheduleIn(timer: Timer, delayMs: number): void {
    this.#wheel ??= this.#createWheel()
    const atMs = this.#turn.nowMs() + delayMs
    if (this.#turn.shares) this.#wheel.defer(timer, atMs)
    else this.#wheel.schedule(timer, atMs)
  }

  lagged(lagMs: number): void {
    this.#wheel?.takeDeferred(lagMs)
  }

  ended(): void {
    this.#wheel?.forgetDeferred()
  }

  cancel(timer: Timer): void {
    this.#wheel?.cancel(timer)
  }

  soon(timer: Timer): void {
    if (++this.#microtasks % MICROTASKS_BETWEEN_TURNS !== 0) {
      void RESOLVED.then(() => timer.fire())
    } else if (typeof setImmediate === 'function') {
      setImmediate(() => timer.fire())
    } else {
      setTimeout(() => timer.fire(), 0)
    }
  }

  #createWheel(): TimerWheel {
    const wheel: TimerWheel = new TimerWheel({
      nowMs: monotonic,
      arm: (delayMs) => {
        clearTimeout(this.#handle)
        this.#handle = setTimeout(() => {
          this.#turn.settle()
          wheel.advance()
        }, delayMs)
      },
      hold: (alive) => {
        // In a browser a timer is a number, and keeps nothing alive.
        if (typeof this.#handle !== 'object') return
        if (alive) this.#handle.ref()
        else this.#handle.unref()
      },
    })
    return wheel
  }
}

function monotonic(): number {
  return performance.now()
}

/** One per copy of the library. */
export const systemClock: Clock = /* @__PURE__ */ new SystemClock()
