/**
 * What stands against running a step and all behind it once more: something before it that has not come to its end. Reads
 * single records, however many steps there are. Imports the plan, names of maps and the checks of a resume.
 */
import type { Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { fallbackId } from '../plan/fallback.js'
import type { MapPlan } from '../plan/map-plan.js'
import { type PhasePlan, phasesFrom, phasesIn, type Plan, type StepPlan } from '../plan/plan.js'
import { scopeOf } from '../view/run-pages.js'
import { mapRunId } from './map/map-names.js'
import type { Refusal } from './resume-check.js'
import { notesOf } from '../view/run-notes.js'

interface RepeatRequest {
  readonly ledger: Ledger
  readonly run: RunRecord
  readonly plan: Plan
  /** Tasks of the run that have not succeeded. */
  readonly left: readonly TaskRecord[]
}

/** Undefined if the step can be repeated. */
export async function repeatRefusal(request: RepeatRequest, from: string): Promise<Refusal | undefined> {
  const { run, plan } = request
  const steps = phasesIn(plan, 'steps')
  const index = steps.findIndex(({ id }) => id === from)
  if (index === -1) {
    const message = `Step ${from} of run ${run.id} runs when the steps have ended: run one of them once more.`
    return { kind: 'not_possible', message, answers: [] }
  }
  const open = await firstOpen(request, steps.slice(0, index))
  if (open !== undefined) {
    const message = `Step ${from} of run ${run.id} has to wait for step ${open.id}, which has not ended well.`
    return { kind: 'not_possible', message, answers: [{ from: open.id }] }
  }
  for (const phase of phasesFrom(plan, from)) {
    if (phase.kind !== 'map' || !(await isSkipped(request, phase))) continue
    const message = `Map ${phase.id} of run ${run.id} was skipped, and cannot run in this run any more: begin a new one.`
    return { kind: 'not_possible', message, answers: [] }
  }
  return undefined
}

/** The first of the phases after which the run would not go on. */
async function firstOpen(request: RepeatRequest, phases: readonly PhasePlan[]): Promise<PhasePlan | undefined> {
  const { run, plan, left } = request
  const last = phases.at(-1)
  const unsuccessful = new Set(left.map(({ id }) => id))
  // In order, a step is begun when all before it have ended: of those that succeeded only the last is looked at.
  const isInOrder = notesOf(run).isInOrder === true && run.fingerprint === plan.fingerprint
  const asked = phases.filter(
    (phase) => !isInOrder || phase === last || phase.kind === 'map' || unsuccessful.has(phase.id),
  )
  for (const phase of asked) {
    const isPassed = phase.kind === 'map' ? await isMapPassed(request, phase) : await isStepPassed(request, phase)
    if (!isPassed) return phase
  }
  return undefined
}

async function isStepPassed(request: RepeatRequest, { id, onFailure }: StepPlan): Promise<boolean> {
  const status = await statusOf(request, id)
  if (status !== 'failed' || onFailure === 'continue') return status === 'succeeded' || status === 'failed'
  if (onFailure === 'stop' || onFailure.afterwards === 'fail') return false
  return (await statusOf(request, fallbackId({ id }))) === 'succeeded'
}

async function isMapPassed(request: RepeatRequest, map: MapPlan): Promise<boolean> {
  const record = await request.ledger.run(mapRunId(request.run.id, map.id))
  if (record === undefined) return isSkipped(request, map)
  const { status } = record
  return (
    status === 'succeeded' ||
    status === 'completed_with_failures' ||
    (status === 'failed' && map.onFailure === 'continue')
  )
}

/** A map that was skipped is recorded as a step is. */
async function isSkipped(request: RepeatRequest, { id }: MapPlan): Promise<boolean> {
  return (await statusOf(request, id)) === 'succeeded'
}

async function statusOf({ ledger, run }: RepeatRequest, id: string): Promise<TaskRecord['status'] | undefined> {
  return (await ledger.get({ ...scopeOf(run.id), id }))?.status
}
