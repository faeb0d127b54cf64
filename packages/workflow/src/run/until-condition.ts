/**
 * `until` of a step: an attempt that has done its work fails while the condition is false. Whether there is another attempt
 * is decided like after every failure. What the answer was is masked before it is cut: of half a secret nobody could tell
 * that it is one. Imports the plan, expressions and masking.
 */
import type { Json } from 'reprise/durable'
import type { Masker } from '../masking/masker.js'
import type { StepPlan } from '../plan/plan.js'
import type { Values } from '../steps/step-context.js'
import { compileExpression } from '../values/expression.js'
import { SetupError } from '../values/setup-error.js'
import type { StepResult } from './run-record.js'
import { valuesAfter } from './scope.js'

/** The condition of `until` is false. No breaker counts it: the operation worked. */
class UntilError extends Error {
  readonly code = 'until'
  /** Always retried, whatever `retry_on` lists. */
  readonly retryable = 'not_yet'

  override get name(): string {
    return 'UntilError'
  }
}

const MAX_SHOWN = 80

/** What the condition of a step is looked at with. */
export interface UntilInput {
  /** Not masked: the condition sees what the step gave. */
  readonly result: StepResult
  /** What the texts of the step mean. */
  readonly values: Values
  readonly masker: Masker
}

/** Throws while the step is not where it should be. */
export async function expectUntil(step: StepPlan, { result, values, masker }: UntilInput): Promise<void> {
  const { until, capture } = step
  if (until === null) return
  const expression = await compileExpression(until)
  if (isTrue(() => expression.evaluateBoolean(valuesAfter(step, result, values)))) return
  const seen = capture === null ? '' : ` (${capture.name} is ${shown(result.output ?? null, masker)})`
  throw new UntilError(`not yet: ${until}${seen}`)
}

function isTrue(evaluate: () => boolean): boolean {
  try {
    return evaluate()
  } catch (error) {
    throw new SetupError('invalid_until', `until: ${(error as Error).message}`, { cause: error })
  }
}

function shown(value: Json, masker: Masker): string {
  const text = masker.maskText(JSON.stringify(masker.maskJson(value)))
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
