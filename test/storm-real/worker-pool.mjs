// @ts-check
/**
 * What the server can do: workers, a bounded queue, and a fault in which fewer workers, or none, start requests. A
 * request is served though its client may have given up, since the pool does not know of it. The rules are those of the
 * simulated server.
 *
 * A worker counts from when its last request was due, not from when a late timer fired: a busy machine delays answers,
 * but takes nothing of the capacity. Imports nothing.
 */

/**
 * @typedef {object} PoolOptions
 * @property {number} workers
 * @property {number} workersInFault 0: a hang, in which requests that have been started are not answered either
 * @property {number} queueLength
 * @property {() => number} drawMs how long the next request takes
 * @property {() => number} nowMs
 * @property {number} faultFromMs
 * @property {number} faultUntilMs
 *
 * @typedef {object} Waiting
 * @property {number} sinceMs
 * @property {() => void} answer
 */

export class WorkerPool {
  served = 0
  refused = 0
  longestQueue = 0
  /** @type {PoolOptions} */
  #options
  #busy = 0
  /** @type {Waiting[]} */
  #queue = []
  /** @type {Set<NodeJS.Timeout>} */
  #timers = new Set()

  /** @param {PoolOptions} options */
  constructor(options) {
    this.#options = options
    const { nowMs, faultUntilMs } = options
    this.#at(faultUntilMs, () => this.#startNext(Math.max(faultUntilMs, nowMs())))
  }

  /**
   * False if there is neither a worker nor a place in the queue.
   * @param {() => void} answer
   */
  submit(answer) {
    const nowMs = this.#options.nowMs()
    if (this.#queue.length >= this.#options.queueLength && !this.#hasFreeWorker(nowMs)) {
      this.refused++
      return false
    }
    this.#queue.push({ sinceMs: nowMs, answer })
    this.longestQueue = Math.max(this.longestQueue, this.#queue.length)
    this.#startNext(nowMs)
    return true
  }

  /** Nothing is answered any more. */
  close() {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#queue.length = 0
  }

  /** @param {number} atMs */
  #workersAt(atMs) {
    const { workers, workersInFault, faultFromMs, faultUntilMs } = this.#options
    return atMs >= faultFromMs && atMs < faultUntilMs ? workersInFault : workers
  }

  /** @param {number} atMs */
  #hasFreeWorker(atMs) {
    return this.#busy < this.#workersAt(atMs)
  }

  /** @param {number} atMs */
  #startNext(atMs) {
    while (this.#hasFreeWorker(atMs)) {
      const request = this.#queue.shift()
      if (request === undefined) return
      this.#busy++
      const dueMs = Math.max(atMs, request.sinceMs) + this.#options.drawMs()
      // A request that is due in a hang is answered when the hang ends.
      const endMs = this.#workersAt(dueMs) === 0 ? this.#options.faultUntilMs : dueMs
      this.#at(endMs, () => this.#finished(request, endMs))
    }
  }

  /** @param {Waiting} request @param {number} endMs */
  #finished(request, endMs) {
    this.#busy--
    this.served++
    request.answer()
    this.#startNext(endMs)
  }

  /** @param {number} atMs @param {() => void} act */
  #at(atMs, act) {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        act()
      },
      Math.max(0, atMs - this.#options.nowMs()),
    )
    this.#timers.add(timer)
  }
}
