// @ts-check
/**
 * What the real storm has to show, for each scenario. Imports types only.
 */

/**
 * @typedef {import('./figures.mjs').Figures} Figures
 * @typedef {import('./rig.mjs').ScenarioName} ScenarioName
 *
 * @typedef {object} Goal
 * @property {string} goal
 * @property {string} subject
 * @property {boolean} met
 *
 * @typedef {object} Rule
 * @property {string} subject
 * @property {string} goal
 * @property {(own: Figures, none: Figures | undefined) => boolean | undefined} holds undefined: cannot be judged
 */

/** A policy that is not back after this time counts as collapsed. */
const COLLAPSED_AFTER_S = 10
/** The recommended settings may be at most half a point worse than no retries. */
const MAX_HARM = 0.005

/** @type {Rule} */
const NO_HARM = {
  subject: 'recommended',
  goal: 'success in the fault and after it ≥ that of no retries − 0.5 points',
  holds: (own, none) => (none === undefined ? undefined : own.success >= none.success - MAX_HARM),
}

/** @type {Readonly<Record<ScenarioName, readonly Rule[]>>} */
const RULES = {
  hang: [
    { subject: 'recommended', goal: 'mean amplification in the hang ≤ 1.05', holds: ({ mean }) => mean <= 1.05 },
    {
      subject: 'recommended',
      goal: 'answers again within 3 s after it',
      holds: ({ recoveryS }) => recoveryS !== null && recoveryS <= 3,
    },
    {
      subject: 'exponential-5',
      goal: 'is seen to collapse: mean above 2, and does not answer again within 10 s',
      holds: ({ mean, recoveryS }) => mean > 2 && (recoveryS === null || recoveryS > COLLAPSED_AFTER_S),
    },
  ],
  'brown-out': [
    NO_HARM,
    {
      subject: 'recommended',
      goal: 'back within 5 s after the fault',
      holds: ({ backS }) => typeof backS === 'number' && backS <= 5,
    },
    {
      subject: 'recommended',
      goal: 'goodput in the fault ≥ 75 % of what the server can do',
      holds: ({ goodput }) => goodput !== null && goodput >= 0.75,
    },
  ],
  'cold-start': [NO_HARM],
  burst: [NO_HARM],
}

/**
 * The goals of a scenario that can be judged by the policies that were replayed.
 * @param {ScenarioName} scenario @param {ReadonlyMap<string, Figures>} figures by subject @returns {Goal[]}
 */
export function judge(scenario, figures) {
  const none = figures.get('none')
  return RULES[scenario].flatMap(({ subject, goal, holds }) => {
    const own = figures.get(subject)
    const met = own === undefined ? undefined : holds(own, none)
    return met === undefined ? [] : [{ subject, goal, met }]
  })
}
