/** A plan from a file, and the check of its secrets. Imports documents, plans and masking. */
import path from 'node:path'
import type { Json, RunRecord } from 'reprise/durable'
import type { Plan } from '../plan/plan.js'
import { planOf } from '../plan/plan-of.js'
import { readersFor } from '../values/document-readers.js'
import { secretPlaces } from '../masking/secret-places.js'
import { faultOfSecrets } from '../masking/secret-fault.js'
import { notesOf as remarksOn } from '../plan/found-policies.js'
import { notesOf } from '../view/run-notes.js'
import { withEnvFiles } from '../run/env-files.js'
import type { Source } from '../document/source.js'
import { OperationError } from './operation-error.js'

export interface LoadedPlan {
  readonly plan: Plan
  /** Where modules are looked for. */
  readonly documentDir: string
  /** What is allowed but odd. */
  readonly notes: readonly string[]
  /** What messages call the file. */
  readonly shownFile: string
}

/** `name`: of the file; null for what came from stdin. */
export async function loadPlan(source: Source, name: string | null): Promise<LoadedPlan> {
  const readers = await readersFor(source)
  const plan = planOf(source, readers)
  const file = name === null ? null : path.resolve(name)
  const documentDir = file === null ? process.cwd() : path.dirname(file)
  return { plan: { ...plan, file }, documentDir, notes: remarksOn(source, plan, readers), shownFile: source.file }
}

/** What commands of a recorded run inherit: the variables of the process, and those of its files. */
export function runEnvironment<V extends Readonly<Record<string, string | undefined>>>(
  plan: Plan,
  run: RunRecord,
  env: V,
): V {
  return withEnvFiles(plan, notesOf(run).documentDir, env)
}

/** What is passed on and masked has to be there. */
export function expectSecrets({ secrets }: Plan, env: Readonly<Record<string, string | undefined>>): void {
  const fault = faultOfSecrets(secrets, env)
  if (fault === undefined) return
  const { message, suggestion, missing: names } = fault
  const problem =
    names.length === 0 ? ({ code: 'short_secrets' } as const) : ({ code: 'missing_secrets', names } as const)
  throw new OperationError('invalid', problem, message, suggestion)
}

/** What is kept of a run cannot hold a secret: as it is it would be none, and masked nobody could go on with it. */
export function expectNoSecrets(
  { secrets, document }: Plan,
  env: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, Json>> = {},
): void {
  const values = Object.fromEntries(secrets.map((name) => [name, env[name] ?? '']))
  const [found] = secretPlaces(values, { 'the workflow': document, ...given })
  if (found === undefined) return
  const { secret, place } = found
  throw new OperationError(
    'invalid',
    { code: 'recorded_secret' },
    `the value of the secret ${secret} stands in ${place}, and would be kept with the run`,
    `write \${env.${secret}} where it is used; if it only looks the same, choose another value`,
  )
}
