// @ts-check
/**
 * What the server can do: so many workers, a queue with an end, and a hang. Who has given up is served all the same,
 * since nothing here knows about it. The rules are those of the simulated server.
 *
 * A worker goes on from when its request was due, not from when a late timer said so: a busy machine delays answers,
 * but takes nothing of the capacity. Imports nothing.
 */

/**
 * @typedef {object} PoolOptions
 * @property {number} workers
 * @property {number} queueLength
 * @property {() => number} drawMs how long the next request takes
 * @property {() => number} nowMs
 * @property {number} hangFromMs
 * @property {number} hangUntilMs
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
    const { nowMs, hangUntilMs } = options
    this.#at(hangUntilMs, () => this.#startNext(Math.max(hangUntilMs, nowMs())))
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
  #hangs(atMs) {
    return atMs >= this.#options.hangFromMs && atMs < this.#options.hangUntilMs
  }

  /** @param {number} atMs */
  #hasFreeWorker(atMs) {
    return this.#busy < this.#options.workers && !this.#hangs(atMs)
  }

  /** @param {number} atMs */
  #startNext(atMs) {
    while (this.#hasFreeWorker(atMs)) {
      const request = this.#queue.shift()
      if (request === undefined) return
      this.#busy++
      const dueMs = Math.max(atMs, request.sinceMs) + this.#options.drawMs()
      // What hangs with the server is answered when the server goes on.
      const endMs = this.#hangs(dueMs) ? this.#options.hangUntilMs : dueMs
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
