/** The plan of a run from what is recorded of it. Imports the plan and the record. */
import { type Json, type Ledger, LedgerError, type RunRecord, TaskRefusedError } from 'reprise/durable'
import type { Plan } from '../plan/plan.js'
import { planFromDocument } from '../plan/plan-of.js'
import { BLIND_READERS } from '../plan/readers.js'
import { InputError } from '../document/problem.js'
import { faultsOfNotes, notesOf, refusedRun } from '../view/run-notes.js'
import { WORKFLOW_KIND } from './run-record.js'

/**
 * The plan of a run that is only ended or removed: of one whose record cannot be nothing is known, so that a person can get
 * rid of it.
 */
export async function planToEnd(ledger: Ledger, run: RunRecord): Promise<Plan> {
  try {
    return await readPlan(ledger, run)
  } catch (error) {
    const isDamaged = error instanceof TaskRefusedError || (error instanceof LedgerError && error.problem === 'corrupt')
    if (!isDamaged) throw error
    return planFromDocument({ name: 'unknown', steps: [{ id: 'unknown', shell: 'exit 1' }] }, null, BLIND_READERS)
  }
}

/** The plan as the ledger has it. Rejects if the record of the run is damaged. */
export async function readPlan(ledger: Ledger, run: RunRecord): Promise<Plan> {
  return recordedPlan(run, (await ledger.definition(run.id)) ?? null)
}

/** What of the record of a run cannot be: its notes, or its document. */
export function faultsOfRecord(run: RunRecord, definition: Json): readonly string[] {
  if (run.kind !== WORKFLOW_KIND) return []
  const faults = faultsOfNotes(run)
  if (faults.length > 0) return faults
  try {
    planFromDocument(definition, null, BLIND_READERS)
    return []
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return error.problems.map(({ message }) => `its document: ${message}`)
  }
}

/** As it was when the run began, or when a change of it was last accepted. */
export function recordedPlan(run: RunRecord, definition: Json): Plan {
  try {
    return { ...planFromDocument(definition, recordedFile(run), BLIND_READERS), name: run.name }
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    throw refusedRun(
      run.id,
      error.problems.map(({ message }) => `its document: ${message}`),
    )
  }
}

/** Where its document was read; null for one that came from stdin. */
export function recordedFile(run: RunRecord): string | null {
  return notesOf(run)?.file ?? null
}
