// @ts-check
/**
 * What every child process does: hear from its parent, count its time from the moment the parent names, say what it
 * has cost, and end by itself. A child whose parent has gone ends at once. Imports nothing that is not part of Node.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * @typedef {object} Cost
 * @property {number} cpuMs
 * @property {number} lateP99Ms how late the event loop was
 * @property {number} lateMaxMs
 */

const orphaned = () => process.exit(1)
process.on('disconnect', orphaned)

/** What the parent gave it, as JSON in its first argument. */
export const given = JSON.parse(process.argv[2] ?? '{}')

/** @param {object} message @returns {Promise<void>} */
export const tell = (message) =>
  new Promise((resolve, reject) => {
    if (process.send === undefined) throw new Error('This program is started by run.mjs, with a channel to it.')
    process.send(message, (/** @type {Error | null} */ error) => (error === null ? resolve() : reject(error)))
  })

/**
 * The next message of this type.
 * @param {string} type @returns {Promise<{ atMs: number }>}
 */
export const hear = (type) =>
  new Promise((resolve) => {
    const listener = (/** @type {{ type: string, atMs: number }} */ message) => {
      if (message.type !== type) return
      process.off('message', listener)
      resolve(message)
    }
    process.on('message', listener)
  })

/**
 * A clock that is 0 at this time of day, and goes by the monotonic one.
 * @param {number} atMs
 */
export function clockFrom(atMs) {
  const zeroMs = performance.now() + (atMs - Date.now())
  return () => performance.now() - zeroMs
}

/** Starts to measure what the process costs; the answer ends it. */
export function measureCost() {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  const before = process.cpuUsage()
  delays.enable()
  return () => {
    delays.disable()
    const { user, system } = process.cpuUsage(before)
    // A delay includes the 10 ms between two looks.
    const late = (/** @type {number} */ ns) => Math.max(0, ns / 1e6 - 10)
    return { cpuMs: (user + system) / 1000, lateP99Ms: late(delays.percentile(99)), lateMaxMs: late(delays.max) }
  }
}

/** Lets go of the parent: with nothing else left to do the process ends. */
export function letGo() {
  process.off('disconnect', orphaned)
  process.disconnect()
}
