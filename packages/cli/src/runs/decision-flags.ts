/** What a person has decided about an interrupted attempt, from flags. Imports the errors of a wrong use. */
import type { LetterDecision } from 'reprise/internal'
import { UsageError } from '../failures.js'
import { jsonFlag } from './json-flag.js'

export interface DecisionFlags {
  readonly done?: boolean
  readonly rerun?: boolean
  readonly result?: string
}

export function decisionOf({ done = false, rerun = false, result }: DecisionFlags): LetterDecision {
  if (done === rerun)
    throw new UsageError(
      done ? '--done and --rerun were both given' : 'neither --done nor --rerun was given',
      '--done if the interrupted attempt took effect, --rerun if it did not',
    )
  if (rerun && result !== undefined)
    throw new UsageError('--result is the result of an attempt that took effect', 'give it with --done')
  if (rerun) return { answer: 'rerun' }
  return { answer: 'done', result: result === undefined ? null : jsonFlag('--result', result) }
}
