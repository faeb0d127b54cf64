/**
 * What an agent executes items of a run with: the plan and the parameters as they are recorded, secrets and variables of
 * its own environment, and what steps before a map have given. Imports the plan, masking and its own layer.
 */
import path from 'node:path'
import type { DurationInput } from 'reprise'
import type { Json, Ledger, RunRecord } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import { Masker } from '../../masking/masker.js'
import type { MapPlan } from '../../plan/map-plan.js'
import { phasesIn, type Plan } from '../../plan/plan.js'
import { secretAddress } from '../../state/own-store.js'
import type { StateDirectory } from '../../state/state-directory.js'
import type { StateError } from '../../state/state-error.js'
import type { ScriptPool } from '../../steps/script-pool.js'
import { notesOf } from '../../view/run-notes.js'
import { withEnvFiles } from '../env-files.js'
import { recallStep } from '../handlers.js'
import { recallMap } from '../map/recall-map.js'
import type { Performer } from '../performer.js'
import { performerFor } from '../performer-for.js'
import { stepsSoFar } from '../recorded-steps.js'
import type { RunNotes } from '../run-record.js'
import type { Scope } from '../scope.js'

export interface HandsParts {
  readonly ledger: Ledger
  readonly plan: Plan
  /** The run, looked at and not conducted. */
  readonly run: DurableRun
  readonly store: string
  readonly state: StateDirectory
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly grace: DurationInput | undefined
  readonly scripts: ScriptPool
  readonly onStateFailure: (error: StateError) => void
}

export interface MapHands {
  readonly scope: Scope
  readonly performer: Performer
  readonly mask: (value: Json) => Json
}

/** The notes of a run for a process that has its files elsewhere: the directory of the document keeps its place to it. */
export function relocated(notes: RunNotes, cwd: string | undefined): RunNotes {
  if (cwd === undefined) return notes
  return { ...notes, cwd, documentDir: path.resolve(cwd, path.relative(notes.cwd, notes.documentDir)) }
}

/** The variables that commands of an agent inherit. */
export function agentEnvironment(
  plan: Plan,
  run: RunRecord,
  env: Readonly<Record<string, string>>,
  cwd: string | undefined,
): Readonly<Record<string, string>> {
  return withEnvFiles(plan, relocated(notesOf(run), cwd).documentDir, env)
}

/** What performs the items of a map, with all that the phases before it have given. */
export async function handsOf(parts: HandsParts, map: MapPlan): Promise<MapHands> {
  const { ledger, plan, run, store, state, cwd, grace, scripts, onStateFailure } = parts
  const { record } = run
  const recorded = notesOf(record)
  const notes = { ...relocated(recorded, cwd), params: { ...plan.params, ...recorded.params } }
  const env = agentEnvironment(plan, record, parts.env, cwd)
  const secrets = Object.fromEntries(plan.secrets.map((name) => [name, env[name] ?? '']))
  const masker = new Masker({ ...secrets, '--store': secretAddress(store) })
  const { scope, performer } = performerFor({
    ...{ plan, notes, env, grace, state, masker, scripts, onStateFailure },
    ...{ runId: run.id, correlationId: record.correlationId },
    onLine: () => undefined,
    onOutput: undefined,
    output: undefined,
  })
  const steps = await stepsSoFar(run, recorded, { ledger, plan })
  for (const phase of phasesIn(plan, 'steps')) {
    if (phase.id === map.id) break
    if (phase.kind === 'map') {
      scope.takeMap(phase.id, await recallMap({ ledger, state, runId: run.id, isGuest: true }, phase))
      continue
    }
    recallStep(phase, steps, scope, (step, { failure, attempts }) => scope.takeFailure(step, failure, attempts))
  }
  return { scope, performer, mask: (value) => masker.maskJson(value) }
}
