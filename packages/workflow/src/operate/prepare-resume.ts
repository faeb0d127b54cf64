/** What a resume of a run would do, with the file of its workflow as it is now. Imports Node, documents, plans and runs. */
import { existsSync } from 'node:fs'
import type { Ledger, RunRecord } from 'reprise/durable'
import { readText } from '../document/read-text.js'
import { parseSource } from '../document/source.js'
import type { Plan } from '../plan/plan.js'
import { recordedFile, recordedPlan } from '../run/recorded-plan.js'
import { checkResume, type ResumeCheck, type ResumeChoices } from '../run/resume-check.js'
import { unknownStep } from './find-step.js'
import { loadPlan } from './load-plan.js'

export interface PreparedResume {
  readonly record: RunRecord
  readonly plan: Plan
  readonly check: ResumeCheck
  /** As they were given, with the id of the step that was named. */
  readonly choices: ResumeChoices
  /** By the ledger's clock, as all that is due. */
  readonly nowMs: number
}

/** `onMissingFile` is told of a file that is gone: what is recorded of it goes on. */
export async function prepareResume(
  ledger: Ledger,
  record: RunRecord,
  given: ResumeChoices,
  onMissingFile: (file: string) => void,
): Promise<PreparedResume> {
  const definition = (await ledger.definition(record.id)) ?? null
  const before = (): Plan => recordedPlan(record, definition)
  const now = (await planOfFile(recordedFile(record), onMissingFile)) ?? before()
  const choices = given.from === undefined ? given : { ...given, from: stepNamed(record.id, now, given.from) }
  const check = await checkResume(ledger, record, { before, now }, choices)
  return { record, plan: now, check, choices, nowMs: await ledger.now() }
}

/** By its id, else by its name. */
function stepNamed(run: string, { phases }: Plan, named: string): string {
  const found = phases.find(({ id }) => id === named) ?? phases.find(({ name }) => name === named)
  if (found === undefined)
    throw unknownStep(
      run,
      phases.map(({ id }) => id),
      named,
    )
  return found.id
}

/** Undefined where the file is gone, or where there was none. */
async function planOfFile(file: string | null, onMissingFile: (file: string) => void): Promise<Plan | undefined> {
  if (file === null) return undefined
  if (!existsSync(file)) {
    onMissingFile(file)
    return undefined
  }
  const { text } = await readText(file)
  return (await loadPlan(parseSource(file, text), file)).plan
}
