/** Why a run is not resumed, as the error that ends the command. Imports types and its own directory. */
import { describeDifference, type Refusal } from '@reprise/workflow/internal'
import { RefusedError } from '../failures.js'

/** The first names the kind; all are told. `resume`: the words of the command that was refused, with its flags. */
export function refusedBy(refusals: readonly Refusal[], resume: readonly string[]): RefusedError {
  const [first] = refusals as readonly [Refusal, ...Refusal[]]
  const details = refusals.flatMap((refusal, index) => [
    ...(index === 0 ? [] : [refusal.message]),
    ...(refusal.differences ?? []).map(describeDifference),
    ...(refusal.faults ?? []),
  ])
  return new RefusedError({ kind: first.kind, message: first.message, details, next: nextOf(refusals, resume) })
}

/** The refused command with every flag that is missing; where no flag helps, what to look at. */
function nextOf(refusals: readonly Refusal[], resume: readonly string[]): (readonly string[])[] {
  const isCurable = refusals.every(({ flags }) => flags.length > 0)
  const choices = isCurable ? Math.max(...refusals.map(({ flags }) => flags.length)) : 0
  const commands = Array.from({ length: choices }, (_, choice) => [
    ...resume,
    ...refusals.flatMap(({ flags }) => flags[choice] ?? flags[0] ?? []),
  ])
  return [...refusals.flatMap(({ look }) => look), ...commands]
}
