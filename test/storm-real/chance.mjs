// @ts-check
/**
 * Lengths of time by chance, and seeds for many processes from one. Imports nothing.
 */

/** @param {number} meanMs @param {() => number} random */
export const exponentialMs = (meanMs, random) => -meanMs * Math.log(1 - random())

/**
 * A seed of its own for each process: neighbours share no numbers.
 * @param {number} seed @param {number} index
 */
export const seedOf = (seed, index) => (seed + Math.imul(index + 1, 0x9e3779b1)) >>> 0
