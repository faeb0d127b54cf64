/** Goals of a row: a value made from the figures, with the most it may be. */

/** @typedef {import('./harness.mjs').Figures} Figures */
/**
 * @typedef {object} Goal
 * @property {string} what
 * @property {(figures: Figures) => number | undefined} value undefined: not measured
 * @property {(figures: Figures) => number | undefined} [floor] the same of the floor: what no library can go below
 * @property {number} goal
 * @property {number} [stretch]
 * @property {string} [unit] `×` unless said otherwise
 */
/**
 * @typedef {object} Row
 * @property {string} title
 * @property {string} unit what the first column counts
 * @property {Record<string, string>} columns column → heading, with its unit
 * @property {string} note how it is measured, in a sentence or two
 * @property {string} floor what the least is that this can cost, in a sentence
 * @property {readonly string[]} [candidates] measured each in a process of its own
 * @property {readonly string[]} [flags] of Node
 * @property {number} [processes] of a full run
 * @property {readonly Goal[]} goals
 * @property {(options: { quick: boolean, candidate: string }) => Promise<Figures>} measure
 */

export const isFloor = (/** @type {string} */ name) => name.startsWith('floor: ')
export const isOurs = (/** @type {string} */ name) => name.startsWith('reprise')

/** The peer with the smallest figure. @param {Figures} figures @param {string} column */
export function fastestPeer(figures, column) {
  const peers = Object.keys(figures).filter((name) => !isFloor(name) && !isOurs(name) && figures[name][column] >= 0)
  return peers.sort((a, b) => figures[a][column] - figures[b][column])[0]
}

/**
 * Ours over theirs. Without `theirs`: over the fastest peer of the run.
 * @param {string} ours @param {string | undefined} theirs @param {string} column @returns {Goal['value']}
 */
export const ratio = (ours, theirs, column) => (figures) => {
  const over = figures[theirs ?? fastestPeer(figures, column)]?.[column]
  const value = figures[ours]?.[column]
  return over === undefined || value === undefined ? undefined : value / over
}

/** A figure itself. @param {string} ours @param {string} column @returns {Goal['value']} */
export const figure = (ours, column) => (figures) => figures[ours]?.[column]
