/** A plan from a file that somebody named, and the check of its secrets. Imports the workflow package and input. */
import path from 'node:path'
import type { Plan } from '@reprise/workflow'
import { faultOfSecrets, notesOf, planOf, readersFor, secretPlaces } from '@reprise/workflow/internal'
import type { Json } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { openSource } from '../input/open-source.js'

export interface LoadedPlan {
  readonly plan: Plan
  /** Where modules are looked for. */
  readonly documentDir: string
  /** What is allowed but odd. */
  readonly notes: readonly string[]
  /** What messages call the file. */
  readonly shownFile: string
}

export async function loadPlan(name: string, context: CommandContext): Promise<LoadedPlan> {
  const source = await openSource(name, context)
  const plan = planOf(source, await readersFor(source))
  const file = name === '-' ? null : path.resolve(name)
  const documentDir = file === null ? process.cwd() : path.dirname(file)
  return { plan: { ...plan, file }, documentDir, notes: notesOf(source, plan), shownFile: source.file }
}

/** What is passed on and masked has to be there. */
export function expectSecrets({ secrets }: Plan, env: Readonly<Record<string, string | undefined>>): void {
  const fault = faultOfSecrets(secrets, env)
  if (fault === undefined) return
  const { message, suggestion, missing } = fault
  const variables = missing.map((name) => `${name}=…`).join(' ')
  throw new UsageError(message, missing.length === 0 ? suggestion : `set it before the command: ${variables} reprise …`)
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
  throw new UsageError(
    `the value of the secret ${secret} stands in ${place}, and would be kept with the run`,
    `write \${env.${secret}} where it is used; if it only looks the same, choose another value`,
  )
}
