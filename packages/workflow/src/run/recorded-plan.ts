/** The plan of a run from what is recorded of it. Imports the plan and the record. */
import type { Json, RunRecord } from 'reprise/durable'
import type { Plan } from '../plan/plan.js'
import { planFromDocument } from '../plan/plan-of.js'
import { BLIND_READERS } from '../plan/readers.js'
import { notesOf } from './run-record.js'

/** As it was when the run began, or when a change of it was last accepted. */
export function recordedPlan(run: RunRecord, definition: Json): Plan {
  return { ...planFromDocument(definition, recordedFile(run), BLIND_READERS), name: run.name }
}

/** Where its document was read; null for one that came from stdin. */
export function recordedFile(run: RunRecord): string | null {
  return notesOf(run)?.file ?? null
}
