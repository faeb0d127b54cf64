/**
 * A step and all that follow it run once more, also those that succeeded. That they do is kept with the run before anything
 * is changed: a process that takes the run after a kill begins with the same changes. Imports the library, the plan and its
 * own layer.
 *
 * Invariant: making the changes a second time changes nothing that a repeated step has done, since none runs before all are
 * made.
 */
import type { Durable, Json, Ledger } from 'reprise/durable'
import type { DurableRun, StepHandle } from 'reprise/internal'
import { type PhasePlan, phasesFrom, type Plan } from '../plan/plan.js'
import type { StateDirectory } from '../state/state-directory.js'
import { mapRunId } from './map/map-names.js'
import { removeMapRun } from './map/remove-map-run.js'
import { notesAsJson, type RunNotes } from './run-record.js'
import { FALLBACK_POLICY, fallbackId, StepTasks } from './step-task.js'

/** The notes of a run of which this step and all behind it are repeated. How it ended before is forgotten. */
export function repeatedFrom(notes: RunNotes, step: string): RunNotes {
  const { ending: _ending, outputs: _outputs, outputsError: _outputsError, repeatAfter: _after, ...kept } = notes
  return { ...kept, stopReason: null, failedStep: null, repeatFrom: step }
}

interface RepeatParts {
  readonly run: DurableRun
  readonly plan: Plan
  readonly ledger: Ledger
  readonly state: StateDirectory
  readonly durable: Durable
  /** Whether maps are taken from processes that still hold their leases. */
  readonly force: boolean
  /** Nothing secret is written. */
  readonly mask: (value: Json) => Json
}

/** Before anything of the run begins. Answers with its notes, which do not name a step to repeat any more. */
export async function grantRepeated(parts: RepeatParts, notes: RunNotes): Promise<RunNotes> {
  const { repeatFrom, ...kept } = notes
  if (repeatFrom === undefined) return notes
  await grantFrom(parts, repeatFrom)
  await parts.run.change({ detail: parts.mask(notesAsJson(kept)) })
  return kept
}

/** Grants a fresh generation to every repeated step and fallback; items of maps are forgotten, and read again. */
async function grantFrom(parts: RepeatParts, step: string): Promise<void> {
  const { run, plan } = parts
  const tasks = new StepTasks(run, plan)
  for (const phase of phasesFrom(plan, step)) {
    if (phase.kind === 'map') {
      await forgetMap(parts, phase)
      continue
    }
    await again(tasks.of(phase))
    await again(run.step(fallbackId(phase), FALLBACK_POLICY, () => null))
  }
}

/** Of a step that has not ended, what was counted is forgotten as well. */
async function again(task: StepHandle<unknown>): Promise<void> {
  const known = await task.status()
  if (known === undefined) return
  if (!ENDED.has(known.state)) await task.cancel()
  await task.again()
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled'])

async function forgetMap({ run, durable, ledger, state, force }: RepeatParts, { id }: PhasePlan): Promise<void> {
  const mapRun = mapRunId(run.id, id)
  if ((await ledger.run(mapRun)) === undefined) return
  // Refused while a living process has it.
  const taken = await durable.runs.take(mapRun, { force })
  taken.release()
  state.removeStep(run.id, id)
  await removeMapRun(ledger, mapRun)
}
