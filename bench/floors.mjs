/** Hand-written floors: what the same thing costs when nothing is configurable. */

/** @typedef {import('./harness.mjs').Call} Call */

/** @template T @param {T} value */
const same = (value) => value
/** @param {unknown} error @returns {never} */
const rethrow = (error) => {
  throw error
}

/** Nothing at all: what `beyond` subtracts. @type {Record<string, Call>} */
export const bare = { bare: (op) => op() }

/** @type {Record<string, Call>} */
export const floors = {
  'floor: one .then': (op) => op().then(same, rethrow),
  'floor: an async frame': async (op) => await op(),
}

/** @type {Record<string, Call>} */
export const timerFloor = {
  'floor: .then, setTimeout and clearTimeout': (op) => {
    const timer = setTimeout(same, 1000)
    return op().then((/** @type {unknown} */ value) => {
      clearTimeout(timer)
      return value
    }, rethrow)
  },
}

/** @type {Record<string, Call>} */
export const clockFloor = {
  'floor: .then and two clock reads': (op) => {
    const start = performance.now()
    return op().then((/** @type {unknown} */ value) => (performance.now() - start < 0 ? undefined : value), rethrow)
  },
  'floor: .then, a timer and two clock reads': (op) => {
    const start = performance.now()
    const timer = setTimeout(same, 1000)
    return op().then((/** @type {unknown} */ value) => {
      clearTimeout(timer)
      return performance.now() - start < 0 ? undefined : value
    }, rethrow)
  },
}

/** A loop of three attempts without a wait. @type {Call} */
export async function loop(op) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await op()
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}

/** Two attempts with a wait in between, as plain as can be: one promise, one timer. @param {number} delayMs @returns {Call} */
export const waiting = (delayMs) => (op) =>
  op().then(same, () => new Promise((resolve) => setTimeout(() => resolve(op()), delayMs)))

/**
 * Like `waiting`, with one listener per signal and a set of those that wait.
 * @param {number} delayMs @returns {Call}
 */
export function waitingOnSignal(delayMs) {
  /** @type {WeakMap<AbortSignal, Set<() => void>>} */
  const waiters = new WeakMap()
  const plain = waiting(delayMs)
  return (op, signal) => {
    if (!signal) return plain(op)
    return op().then(same, () => {
      let set = waiters.get(signal)
      if (!set) {
        const all = (set = new Set())
        waiters.set(signal, all)
        const abort = () => {
          for (const stop of all) stop()
        }
        signal.addEventListener('abort', abort, { once: true })
      }
      const all = set
      return new Promise((resolve, reject) => {
        const stop = () => {
          clearTimeout(timer)
          all.delete(stop)
          reject(signal.reason)
        }
        const timer = setTimeout(() => {
          all.delete(stop)
          resolve(op())
        }, delayMs)
        all.add(stop)
      })
    })
  }
}
