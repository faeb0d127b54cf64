/** What a workflow gives when its last step has ended: `outputs`, filled in. Pure. Imports the plan and templates. */
import type { Json } from 'reprise/durable'
import type { Plan } from '../plan/plan.js'
import { SetupError } from '../values/setup-error.js'
import { fillJson, fillText } from '../values/template.js'
import type { Scope } from './scope.js'

/** They are kept in the record of the run, and with each workflow of a job. */
const MAX_OUTPUT_BYTES = 64_000

/** Throws a `SetupError` if a value is missing, or if they are too large. */
export function outputsOf({ outputs, env }: Plan, scope: Scope): Readonly<Record<string, Json>> {
  const variables = Object.entries(env).map(([name, text]) => [name, fillText(text, scope.values)] as const)
  const filled = fillJson(outputs, scope.withVariables(Object.fromEntries(variables)))
  const bytes = Buffer.byteLength(JSON.stringify(filled))
  if (bytes <= MAX_OUTPUT_BYTES) return filled as Readonly<Record<string, Json>>
  throw new SetupError('too_large', `outputs: ${bytes} bytes as JSON, and at most ${MAX_OUTPUT_BYTES} are kept`)
}
