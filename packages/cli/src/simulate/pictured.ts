/** Which policies a picture has space for. Imports types only. */
import type { SimulatedPolicy } from './simulation.js'

const MAX_PICTURED = 6
/** Those that say most, if not all can be shown. */
const TELLING = ['exponential-5', 'none', 'recommended', 'finagle', 'breaker']

/** In their order, the one under test first. */
export function pictured(policies: readonly SimulatedPolicy[]): readonly SimulatedPolicy[] {
  const rank = ({ name, isSubject }: SimulatedPolicy): number => {
    const place = TELLING.indexOf(name)
    return isSubject ? -1 : place < 0 ? TELLING.length : place
  }
  const chosen = new Set(policies.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_PICTURED))
  return policies.filter((policy) => chosen.has(policy))
}
