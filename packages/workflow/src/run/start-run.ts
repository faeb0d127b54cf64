/** Begins a run of a plan. Imports the library and its own layer. */
import { randomBytes } from 'node:crypto'
import type { Json } from 'reprise/durable'
import { sharedLedger } from 'reprise/internal'
import { mapsOf, type Plan } from '../plan/plan.js'
import type { RunEnd } from './conductor.js'
import { expectWorkplaces } from './map/open-workplaces.js'
import { placeOf } from './places.js'
import { notesAsJson, type RunNotes, WORKFLOW_KIND } from './run-record.js'
import { type RunSettings, Session } from './session.js'

export interface NewRunInput {
  readonly runId: string
  readonly cwd: string
  readonly documentDir: string
  /** Those that were given; the plan has the others. */
  readonly params: Readonly<Record<string, Json>>
}

export async function startRun(plan: Plan, input: NewRunInput, settings: RunSettings): Promise<RunEnd> {
  const { runId, cwd, documentDir, params } = input
  const session = await Session.open(plan, runId, { ...settings, documentDir })
  try {
    const notes: RunNotes = {
      file: plan.file,
      cwd,
      documentDir,
      params: { ...plan.params, ...params },
      stopReason: null,
      failedStep: null,
      steps: plan.phases.length,
      isInOrder: true,
      ...mapNotes(plan),
      places: [placeOf(settings)],
    }
    await expectWorkplaces(sharedLedger(session.durable), plan, cwd, true)
    return await session.inGroup({ run: runId, params: notes.params }, async () => {
      const run = await session.durable.runs.start(
        {
          id: runId,
          kind: WORKFLOW_KIND,
          name: plan.name,
          definition: session.mask(plan.document),
          fingerprint: plan.fingerprint,
          detail: session.mask(notesAsJson(notes)),
        },
        session.conductWith,
      )
      try {
        return await session.conduct(run, notes)
      } finally {
        run.release()
      }
    })
  } finally {
    await session.close()
  }
}

/** What is noted of the maps of a plan. */
export function mapNotes(plan: Plan): Pick<RunNotes, 'maps'> {
  const maps = mapsOf(plan).map(({ id }) => id)
  return maps.length === 0 ? {} : { maps }
}

/** Of the workflow's name, the day, and chance: readable, and nobody else's. */
export function newRunId(workflow: string, now: Date): string {
  const name =
    workflow
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60) || 'run'
  const day = now.toISOString().slice(2, 10).replaceAll('-', '')
  return `${name}-${day}-${randomBytes(3).toString('hex')}`
}
