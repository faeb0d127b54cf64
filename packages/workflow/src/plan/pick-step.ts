/** The step of a workflow that somebody means. Imports the library and the policies of a file. */
import { nearest } from 'reprise/internal'
import { InputError } from '../document/problem.js'
import type { FoundPolicy, PolicyFile } from './found-policies.js'

/** Steps that are named when nothing else can be said. */
const MAX_NAMES = 12

/** By id, name or position. */
export function pickStep({ policies, isWorkflow }: PolicyFile, step: string, file: string): FoundPolicy {
  if (!isWorkflow) throw new InputError([{ file, message: `has no steps, so none is called ${JSON.stringify(step)}` }])
  const named = policies.filter(({ name }) => name === step)
  const found = policies.find((policy) => policy.step === step) ?? named[0] ?? policies[Number(step) - 1]
  if (found?.step === step || (found !== undefined && named.length < 2)) return found
  const ids = stepIds(named.length > 1 ? named : policies)
  if (named.length > 1) {
    const message = `has ${named.length} steps called ${JSON.stringify(step)}`
    throw new InputError([{ file, message, suggestion: `name one by its id: ${listed(ids)}` }])
  }
  const near = nearest(step, ids)
  const suggestion = near === undefined ? `the steps are ${listed(ids)}` : `did you mean \`${near}\`?`
  throw new InputError([{ file, message: `has no step ${JSON.stringify(step)}`, suggestion }])
}

/** The one policy of a file. A workflow of several steps has none. */
export function pickOnly({ policies }: PolicyFile, file: string): FoundPolicy {
  const [only, ...others] = policies
  if (only !== undefined && others.length === 0) return only
  const ids = stepIds(policies)
  const suggestion = `name one of them after the file: ${listed(ids)}`
  throw new InputError([{ file, message: `has ${ids.length} steps, each with a policy of its own`, suggestion }])
}

function stepIds(policies: readonly FoundPolicy[]): string[] {
  return policies.flatMap((policy) => policy.step ?? [])
}

function listed(names: readonly string[]): string {
  return names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES).join(', ')}, …` : names.join(', ')
}
