// @ts-check
/**
 * What the real storm has to show. Imports types only.
 */

/**
 * @typedef {import('./figures.mjs').Figures} Figures
 * @typedef {object} Goal
 * @property {string} goal
 * @property {string} subject
 * @property {boolean} met
 */

/** A recovery later than this is none that anybody waited for. */
const MUCH_LATER_S = 10

/** @type {readonly { subject: string, goal: string, holds: (figures: Figures) => boolean }[]} */
const GOALS = [
  { subject: 'recommended', goal: 'mean amplification in the hang ≤ 1.05', holds: ({ mean }) => mean <= 1.05 },
  {
    subject: 'recommended',
    goal: 'back within 3 s after it',
    holds: ({ recoveryS }) => recoveryS !== null && recoveryS <= 3,
  },
  {
    subject: 'exponential-5',
    goal: 'is seen to collapse: mean above 2, and not back within 10 s',
    holds: ({ mean, recoveryS }) => mean > 2 && (recoveryS === null || recoveryS > MUCH_LATER_S),
  },
]

/** @param {ReadonlyMap<string, Figures>} figures by subject @returns {Goal[]} */
export function judge(figures) {
  return GOALS.flatMap(({ subject, goal, holds }) => {
    const found = figures.get(subject)
    return found === undefined ? [] : [{ subject, goal, met: holds(found) }]
  })
}
