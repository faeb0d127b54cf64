/**
 * Takes up a run where it was: what has ended stays, the attempt in flight runs again, waits last as long as is left of
 * them. Imports the library and its own layer.
 */
import type { Json, RunRecord } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import type { Difference } from '../plan/differences.js'
import { handlersOf, type Plan, stepsOf } from '../plan/plan.js'
import type { RunEnd } from './conductor.js'
import type { MapSettings } from './map/map-settings.js'
import { partsOfMapRun } from './map/map-names.js'
import type { ResumeCheck, ResumeChoices } from './resume-check.js'
import { placeOf, withPlace } from './places.js'
import { repeatedFrom } from './repeat-from.js'
import { notesOf } from '../view/run-notes.js'
import { notesAsJson, type RunNotes, type RunPlace } from './run-record.js'
import type { StepResult } from './scope.js'
import { type RunSettings, Session } from './session.js'
import { mapNotes } from './start-run.js'
import { FALLBACK_POLICY, fallbackId, StepTasks } from './step-task.js'

export interface ResumeInput {
  readonly choices: ResumeChoices
  /** What was looked at: if anything has changed since, nothing is done. */
  readonly check: Pick<ResumeCheck, 'run' | 'isChanged' | 'differences'>
}

/** `plan`: what goes on. Whoever calls has checked that nothing stands against it. */
export async function resumeRun(plan: Plan, runId: string, input: ResumeInput, settings: RunSettings): Promise<RunEnd> {
  const { choices, check } = input
  const { force, resetRetries, maxFailures, maxParallel } = choices
  const maps: MapSettings = {
    ...settings.maps,
    ...{ force, resetRetries },
    ...(maxFailures !== undefined && { maxFailures }),
    ...(maxParallel !== undefined && { maxParallel }),
  }
  const { documentDir } = notesOf(check.run)
  const session = await Session.open(plan, runId, { ...settings, maps, documentDir }, check.isChanged)
  try {
    const conduct = (): Promise<RunEnd> => conductTaken(session, plan, runId, input, settings)
    return await session.inGroup({ run: runId, params: paramsOf(plan, check.run), isForced: choices.force }, conduct)
  } finally {
    await session.close()
  }
}

async function conductTaken(
  session: Session,
  plan: Plan,
  runId: string,
  { choices, check }: ResumeInput,
  settings: RunSettings,
): Promise<RunEnd> {
  const run = await session.durable.runs.take(runId, {
    ...session.conductWith,
    force: choices.force,
    fence: check.run.fence,
  })
  try {
    await session.endLeftovers(run)
    if (check.isChanged) await acceptChanges(run, plan, session, check.differences)
    await decide(run, plan, choices)
    if (choices.from !== undefined) {
      const repeated = repeatedFrom(notesOf(run.record), choices.from)
      await run.change({ detail: session.mask(notesAsJson(repeated)), because: { repeatedFrom: choices.from } })
    }
    // Outputs that could not be filled in are tried again.
    const areOutputsLeft = notesOf(check.run).outputsError !== undefined
    if (choices.resetRetries || areOutputsLeft) {
      await forgetEnding(run, session)
      await repeatHandlers(run, plan)
    }
    if (choices.resetRetries) await reset(run, plan)
    const noted = await notePlace(run, session, placeOf(settings))
    const isFresh = choices.resetRetries || choices.from !== undefined
    const notes = isFresh ? await session.restartTime(run, noted) : noted
    return await session.conduct(run, { ...notes, stopReason: null, failedStep: null })
  } finally {
    run.release()
  }
}

/** Parameters that a change of the document has added have their defaults. */
export function paramsOf(plan: Plan, run: RunRecord): RunNotes['params'] {
  return { ...plan.params, ...notesOf(run).params }
}

/** Before anything is written there: should this process be killed, it is known where to look. */
export async function notePlace(run: DurableRun, session: Session, place: RunPlace): Promise<RunNotes> {
  const notes = notesOf(run.record)
  const places = withPlace(notes.places, place)
  if (places === notes.places) return notes
  const moved = { ...notes, places }
  await run.change({ detail: session.mask(notesAsJson(moved)) })
  return moved
}

/** The run goes on with its steps: those of `on_failure` and `finally` follow once more. */
export async function forgetEnding(run: DurableRun, session: Session): Promise<void> {
  const { ending, ...notes } = notesOf(run.record)
  if (ending !== undefined) await run.change({ detail: session.mask(notesAsJson(notes)) })
}

/** Steps of `on_failure` and `finally` that have ended run again. */
export async function repeatHandlers(run: DurableRun, plan: Plan): Promise<void> {
  const tasks = new StepTasks(run, plan)
  for (const step of handlersOf(plan)) {
    const fallback = run.step(fallbackId(step), FALLBACK_POLICY, () => null)
    for (const task of [tasks.of(step), fallback]) if ((await task.status()) !== undefined) await task.again()
  }
}

/** Steps and maps that the plan does not have any more do not go on. */
export async function acceptChanges(
  run: DurableRun,
  plan: Plan,
  session: Session,
  differences: readonly Difference[],
): Promise<void> {
  const { isInOrder: _isInOrder, ...before } = notesOf(run.record)
  const notes: RunNotes = {
    ...before,
    steps: plan.phases.length,
    ...mapNotes(plan),
    params: { ...plan.params, ...before.params },
  }
  await run.change({
    definition: session.mask(plan.document),
    fingerprint: plan.fingerprint,
    detail: session.mask(notesAsJson(notes)),
    because: session.mask(differences as unknown as Json),
  })
  const known = new Set(plan.phases.flatMap((step) => [step.id, fallbackId(step)]))
  for (const task of await run.tasks(['waiting', 'running', 'parked', 'undecided'])) {
    if (!known.has(task.id)) await run.step(task.id, FALLBACK_POLICY, () => null).cancel()
  }
  const maps = await session.durable.runs.list({ idPrefix: `${run.id}/` })
  for (const { id } of maps) if (!known.has(partsOfMapRun(id)?.map ?? '')) await session.durable.runs.cancel(id)
}

async function decide(run: DurableRun, plan: Plan, { done, rerun }: ResumeChoices): Promise<void> {
  if (done.length === 0 && rerun.length === 0) return
  const happened: StepResult = { exit_code: 0, attempts: 1, output: null }
  const tasks = new StepTasks(run, plan)
  for (const step of stepsOf(plan)) {
    if (done.includes(step.id)) await tasks.of(step).decide('done', happened as unknown as Json)
    if (rerun.includes(step.id)) await tasks.of(step).decide('rerun')
  }
}

/** A fresh set of attempts for everything that ended without success. A step that fails again needs its fallback again. */
async function reset(run: DurableRun, plan: Plan): Promise<void> {
  const tasks = new StepTasks(run, plan)
  const ended = new Set((await run.tasks(['failed', 'cancelled'])).map(({ id }) => id))
  for (const step of stepsOf(plan)) {
    const isFailed = ended.has(step.id)
    const fallback = run.step(fallbackId(step), FALLBACK_POLICY, () => null)
    if (ended.has(fallbackId(step))) await fallback.reset()
    else if (isFailed && typeof step.onFailure !== 'string' && (await fallback.status()) !== undefined)
      await fallback.again()
    if (isFailed) await tasks.of(step).reset()
  }
}
