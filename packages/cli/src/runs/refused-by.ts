/** Why a run is not resumed, as the error that ends the command. Imports types and its own directory. */
import { describeDifference, type Refusal } from '@reprise/workflow'
import { RefusedError } from '../failures.js'

/** The first names the kind; all are told. */
export function refusedBy(refusals: readonly Refusal[]): RefusedError {
  const [first] = refusals as readonly [Refusal, ...Refusal[]]
  const details = refusals.flatMap((refusal, index) => [
    ...(index === 0 ? [] : [refusal.message]),
    ...(refusal.differences ?? []).map(describeDifference),
    ...(refusal.faults ?? []),
  ])
  const next = refusals.flatMap((refusal) => refusal.next)
  return new RefusedError({ kind: first.kind, message: first.message, details, next })
}
