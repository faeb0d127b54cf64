/** Which policies a picture has space for. Imports types only. */
import type { SimulatedPolicy } from '@reprise/workflow/internal'

const MAX_PICTURED = 6
/** Those that say most, if not all can be shown. */
const PREFERRED = ['exponential-5', 'none', 'recommended', 'finagle', 'breaker']

/** In their order, the one under test first. */
export function pictured(policies: readonly SimulatedPolicy[]): readonly SimulatedPolicy[] {
  const rank = ({ name, isSubject }: SimulatedPolicy): number => {
    const place = PREFERRED.indexOf(name)
    return isSubject ? -1 : place < 0 ? PREFERRED.length : place
  }
  const chosen = new Set(policies.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_PICTURED))
  return policies.filter((policy) => chosen.has(policy))
}
