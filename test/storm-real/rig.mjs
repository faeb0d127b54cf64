// @ts-check
/**
 * The numbers of the real storm, in the proportions of the simulated one: queue 2 s of work, attempt timeout 1 s, load
 * 0.75, a full hang. The server's capacity is made of timers, and so low that two cores carry it five times over: what
 * runs out is what the rig models, never the machine. Imports nothing.
 */

/**
 * @typedef {object} Rig
 * @property {number} clients processes that make calls
 * @property {number} load calls offered, as a share of the capacity
 * @property {number} workers
 * @property {number} serviceMs mean; the lengths are exponential
 * @property {number} queueMs the server's queue, in time at full capacity
 * @property {number} attemptTimeoutMs
 * @property {number} timeoutMs of a whole call
 * @property {number} beforeMs
 * @property {number} hangMs
 * @property {number} afterMs
 */

/** @type {Rig} */
export const FULL = {
  clients: 4,
  load: 0.75,
  workers: 10,
  serviceMs: 50,
  queueMs: 2000,
  attemptTimeoutMs: 1000,
  timeoutMs: 10_000,
  beforeMs: 10_000,
  hangMs: 10_000,
  afterMs: 25_000,
}

/**
 * For a test. Two of these run at once, hence half the capacity.
 * @type {Rig}
 */
export const SHORT = {
  ...FULL,
  serviceMs: 100,
  timeoutMs: 5000,
  beforeMs: 7000,
  hangMs: 5000,
  afterMs: 8000,
}

/** What is replayed, in this order. */
export const SUBJECTS = /** @type {const} */ (['none', 'exponential-5', 'recommended'])

/** @param {Rig} rig @returns answers per second */
export const capacityOf = (rig) => (rig.workers * 1000) / rig.serviceMs

/** @param {Rig} rig @returns calls per second, of all clients */
export const callRateOf = (rig) => rig.load * capacityOf(rig)

/** @param {Rig} rig */
export const queueLengthOf = (rig) => Math.round((capacityOf(rig) * rig.queueMs) / 1000)

/** @param {Rig} rig @returns when the last call begins */
export const callsEndMsOf = (rig) => rig.beforeMs + rig.hangMs + rig.afterMs

/** @param {Rig} rig @returns whole seconds in which something may be counted */
export const secondsOf = (rig) => Math.ceil((callsEndMsOf(rig) + rig.timeoutMs) / 1000) + 1
