/**
 * Redrives steps and items of a run whose dead letters are open: takes the run, grants fresh sets of attempts, and conducts
 * what follows from that. Imports the library and its own layer.
 *
 * Invariants: one process at a time, since the run is taken as for a resume. Without a step among the letters, nothing but
 * the items runs, and the steps after their map only where that was asked for. What is left after a kill is finished by
 * the same call, or by a resume.
 */
import type { Plan } from '../plan/plan.js'
import { stepsOf } from '../plan/plan.js'
import type { RunEnd } from './conductor.js'
import type { ItemRedrive } from './map/redrive-items.js'
import type { ResumeCheck } from './resume-check.js'
import { acceptChanges, forgetEnding, notePlace, paramsOf, repeatHandlers } from './resume-run.js'
import { placeOf } from './places.js'
import { notesOf } from '../view/run-notes.js'
import { notesAsJson, type RunNotes } from './run-record.js'
import { type RunSettings, Session } from './session.js'
import { FALLBACK_POLICY, fallbackId, StepTasks } from './step-task.js'
import type { DurableRun } from 'reprise/internal'

export interface RedriveInput {
  /** Ids of steps that failed. */
  readonly steps: readonly string[]
  readonly items: Omit<ItemRedrive, 'isOnly'>
  /** The map after which every step runs once more; undefined if none is repeated. */
  readonly repeatAfter?: string
  /** The record that was looked at: if the run has been taken since, nothing is done. */
  readonly check: Pick<ResumeCheck, 'run' | 'isChanged' | 'differences'>
}

/** `plan`: the recorded one, or the file as it is now, whose changes are accepted. */
export async function redriveRun(
  plan: Plan,
  runId: string,
  input: RedriveInput,
  settings: RunSettings,
): Promise<RunEnd> {
  const { steps, check, repeatAfter } = input
  const redrive: ItemRedrive = { ...input.items, isOnly: steps.length === 0 }
  const maps = { ...settings.maps, redrive }
  const { documentDir } = notesOf(check.run)
  const session = await Session.open(plan, runId, { ...settings, maps, documentDir }, check.isChanged)
  try {
    return await session.inGroup({ run: runId, params: paramsOf(plan, check.run) }, async () => {
      const run = await session.durable.runs.take(runId, { ...session.conductWith, fence: check.run.fence })
      try {
        await session.endLeftovers(run)
        if (check.isChanged) await acceptChanges(run, plan, session, check.differences)
        await forgetEnding(run, session)
        if (steps.length > 0) await repeatHandlers(run, plan)
        await resetSteps(run, plan, steps)
        let notes: RunNotes = await session.restartTime(run, await notePlace(run, session, placeOf(settings)))
        if (repeatAfter !== undefined) {
          // Kept before anything runs: after a kill, whoever continues repeats the steps too.
          notes = { ...notes, repeatAfter }
          await run.change({ detail: session.mask(notesAsJson(notes)) })
        }
        return await session.conduct(run, { ...notes, stopReason: null, failedStep: null })
      } finally {
        run.release()
      }
    })
  } finally {
    await session.close()
  }
}

/** A fresh set of attempts for these steps and their fallbacks, as far as they ended without success. */
async function resetSteps(run: DurableRun, plan: Plan, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const ended = new Set((await run.tasks(['failed', 'cancelled'])).map(({ id }) => id))
  const tasks = new StepTasks(run, plan)
  for (const step of stepsOf(plan)) {
    const fallback = fallbackId(step)
    if (!ids.includes(step.id) && !ids.includes(fallback)) continue
    if (ended.has(step.id)) await tasks.of(step).reset()
    if (ended.has(fallback)) await run.step(fallback, FALLBACK_POLICY, () => null).reset()
  }
}
