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
  const next = nextOf(refusals)
  return new RefusedError({ kind: first.kind, message: first.message, details, next })
}

/** One command that answers all of them, where flags do; else what each says. */
function nextOf(refusals: readonly Refusal[]): string[] {
  const flags = refusals.map(({ next }) =>
    next.map((command) => /^(reprise resume \S+) (--.*)$/.exec(command)).find(Boolean),
  )
  const [, command] = flags[0] ?? []
  if (refusals.length < 2 || command === undefined || flags.some((found) => !found))
    return refusals.flatMap(({ next }) => next)
  return [`${command} ${flags.map((found) => found?.[2] ?? '').join(' ')}`]
}
