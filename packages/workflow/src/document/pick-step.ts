/** The step of a workflow that somebody means. Imports the library and the policies of a file. */
import { nearest } from 'reprise'
import { InputError } from './problem.js'
import type { FoundPolicy, PolicyFile } from './policy-file.js'

/** Steps that are named when nothing else can be said. */
const MAX_NAMES = 12

/** By id, name or position. */
export function pickStep({ policies, isWorkflow }: PolicyFile, step: string, file: string): FoundPolicy {
  if (!isWorkflow) throw new InputError([{ file, message: `has no steps, so none is called ${JSON.stringify(step)}` }])
  const found = policies.find((policy) => policy.step === step) ?? policies[Number(step) - 1]
  if (found !== undefined && found.step !== null) return found
  const names = stepNames(policies)
  const near = nearest(step, names)
  const suggestion = near === undefined ? `the steps are ${listed(names)}` : `did you mean \`${near}\`?`
  throw new InputError([{ file, message: `has no step ${JSON.stringify(step)}`, suggestion }])
}

/** The one policy of a file. A workflow of several steps has none. */
export function pickOnly({ policies }: PolicyFile, file: string): FoundPolicy {
  const [only, ...others] = policies
  if (only !== undefined && others.length === 0) return only
  const names = stepNames(policies)
  const suggestion = `name one of them after the file: ${listed(names)}`
  throw new InputError([{ file, message: `has ${names.length} steps, each with a policy of its own`, suggestion }])
}

function stepNames(policies: readonly FoundPolicy[]): string[] {
  return policies.flatMap((policy) => policy.step ?? [])
}

function listed(names: readonly string[]): string {
  return names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES).join(', ')}, …` : names.join(', ')
}
