/**
 * What a workflow keeps with its run, read with a check: a ledger may hold what another version or a person wrote. Imports the
 * library and the shapes.
 */
import { type RunRecord, TaskRefusedError } from 'reprise/durable'
import {
  ANY_JSON,
  COUNT,
  fields,
  FLAG,
  type JsonShape,
  listOf,
  mapOf,
  NUMBER,
  oneOf,
  orNull,
  shapeFaults,
  TEXT,
} from 'reprise/internal'
import { type RunNotes, WORKFLOW_KIND } from '../run/run-record.js'

const NOTHING_NOTED: Partial<RunNotes> = Object.freeze({})

/** In place of notes that are damaged, where a run is only listed to be removed. */
export const EMPTY_NOTES = Object.freeze({ cwd: '', documentDir: '', params: {} })

const ENDING = fields(
  { state: oneOf(['succeeded', 'completed_with_failures', 'failed', 'cancelled']) },
  { stopReason: orNull(TEXT), failedStep: orNull(TEXT), outputs: mapOf(ANY_JSON), outputsError: TEXT },
)
/** Without these no command of the run can be made: every version has written them. */
const NEEDED = {
  cwd: TEXT,
  documentDir: TEXT,
  params: mapOf(ANY_JSON),
} satisfies Readonly<Partial<Record<keyof RunNotes, JsonShape>>>

/** Older records lack some of it. */
const NOTES = fields(NEEDED, {
  file: orNull(TEXT),
  stopReason: orNull(TEXT),
  failedStep: orNull(TEXT),
  outputs: mapOf(ANY_JSON),
  outputsError: TEXT,
  steps: COUNT,
  isInOrder: FLAG,
  maps: listOf(TEXT),
  repeatAfter: TEXT,
  repeatFrom: TEXT,
  ending: ENDING,
  timedFromMs: NUMBER,
  times: fields({ activeMs: NUMBER, waitedMs: NUMBER, downMs: NUMBER, resumes: COUNT }),
  places: listOf(fields({ host: TEXT, stateDirectory: TEXT })),
} satisfies Readonly<Record<Exclude<keyof RunNotes, keyof typeof NEEDED>, JsonShape>>)

/** What is noted of a workflow's run; what a program keeps with its own runs says nothing here. Throws if it cannot be. */
export function notesOf(run: RunRecord): RunNotes {
  const { kind, detail } = run
  if (kind !== WORKFLOW_KIND) return NOTHING_NOTED as RunNotes
  expectShape(run, NOTES)
  return detail as unknown as RunNotes
}

/** Why what is noted of the run cannot be. */
export function faultsOfNotes({ kind, detail }: Pick<RunRecord, 'kind' | 'detail'>): string[] {
  return kind === WORKFLOW_KIND ? shapeFaults(NOTES, detail, 'detail') : []
}

/** Refuses a run of which what is kept beside its steps cannot be. */
export function expectShape({ id, detail }: Pick<RunRecord, 'id' | 'detail'>, shape: JsonShape): void {
  const faults = shapeFaults(shape, detail, 'detail')
  if (faults.length > 0) throw refusedRun(id, faults)
}

/** What a ledger says of the run cannot be. */
export function refusedRun(id: string, faults: readonly string[]): TaskRefusedError {
  const message = `The record of run ${id} is invalid (${faults.join('; ')}); nothing was changed.`
  return new TaskRefusedError('state_refused', message)
}
