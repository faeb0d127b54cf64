/**
 * What the goals are measured on: the recommended preset as it is, the same with the time limits of the comparison, and
 * the budget without its bulkhead. Imports the library.
 */
import { adaptiveBudget, recommended } from 'reprise'
import { type Subject, wellKnown } from 'reprise/simulate'

export function known(name: string): Subject {
  const subject = wellKnown().find((one) => one.name === name)
  if (subject === undefined) throw new Error(`There is no well-known policy ${name}`)
  return subject
}

/** Attempt timeout 1 s, as all well-known policies have it here. */
export const RECOMMENDED = known('recommended')

/** Exactly what `recommended()` gives. */
export const PRESET: Subject = {
  name: 'preset',
  policy: recommended().defaultPolicy,
  budgets: { recommended: () => recommended().budgets['recommended'] ?? adaptiveBudget() },
}

export const ADAPTIVE = known('adaptive')

export const STRICT: Subject = {
  ...ADAPTIVE,
  name: 'strict',
  budgets: { adaptive: () => adaptiveBudget({ strict: true }) },
}

export const NONE = known('none')
export const UNLIMITED = known('unlimited')
