/**
 * What a resume would do with the maps of a run, and what stands against it. Counts come from tallies: items are not read,
 * however many there are. Imports the library, the plan, the shapes and its own layer.
 */
import type { Ledger, RunRecord } from 'reprise/durable'
import { laneName } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import { mapsOf, type Plan } from '../../plan/plan.js'
import type { MapPreview } from '../../view/views.js'
import type { Refusal, ResumeChoices } from '../resume-check.js'
import { haltText } from './halt-text.js'
import { isMapHalted } from './map-halt.js'
import { readClasses, runningItems } from './map-counts.js'
import { mapRunId } from './map-names.js'
import type { HaltReason } from '../../view/map-views.js'
import { mapNotesOf } from './map-record.js'

/** A map that was begun. */
export interface RecordedMap {
  readonly map: MapPlan
  readonly record: RunRecord
  readonly preview: MapPreview
}

/** Interrupted items are claimed first: see `claimRank` of the ledger. */
const INTERRUPTED_RANK = 0

export async function recordedMaps(ledger: Ledger, run: string, plan: Plan, isReset: boolean): Promise<RecordedMap[]> {
  const found: RecordedMap[] = []
  for (const map of mapsOf(plan)) {
    const record = await ledger.run(mapRunId(run, map.id))
    if (record !== undefined) found.push({ map, record, preview: await previewOf(ledger, map, record, isReset) })
  }
  return found
}

async function previewOf(
  ledger: Ledger,
  { id, onInterrupt }: MapPlan,
  record: RunRecord,
  isReset: boolean,
): Promise<MapPreview> {
  const { isEnumerated } = mapNotesOf(record)
  const classes = await readClasses(ledger, record.id)
  const lanes = [laneName(record.id, 'items'), laneName(record.id, 'sample')]
  const running = (await runningItems(ledger, lanes)).length
  let stopped = 0
  for (const lane of lanes)
    for (const { rank, tasks } of await ledger.countWaiting(lane)) if (rank === INTERRUPTED_RANK) stopped += tasks
  const { total, succeeded, fresh, retrying, failed, undecided, cancelled } = classes
  const interrupted = running + stopped
  // An interrupted item is fresh or retried: which of both, only its record says.
  const fromFresh = Math.min(fresh, interrupted)
  return {
    map: id,
    isRead: isEnumerated,
    total,
    kept: succeeded,
    pending: fresh - fromFresh,
    retrying: retrying - (interrupted - fromFresh),
    interrupted,
    onInterrupt: typeof onInterrupt === 'string' ? onInterrupt : 'verify',
    failed,
    undecided,
    cancelled,
    reset: isReset ? failed + cancelled : 0,
  }
}

/** A map that was stopped would be stopped again at once; one that has ended stays so. */
export async function mapRefusals(
  ledger: Ledger,
  run: RunRecord,
  maps: readonly RecordedMap[],
  { resetRetries, maxFailures }: ResumeChoices,
): Promise<Refusal[]> {
  if (resetRetries) return []
  const refusals: Refusal[] = []
  for (const { map, record, preview } of maps) {
    const { halted } = mapNotesOf(record)
    if (halted !== null && record.status === 'failed' && (await isMapHalted(ledger, record, map, maxFailures)))
      refusals.push(haltRefusal(map, halted, preview, maxFailures))
    else if (run.status === 'completed_with_failures' && preview.failed + preview.undecided > 0)
      refusals.push(endRefusal(map, preview))
  }
  return refusals
}

function haltRefusal(
  { name, onFailure }: MapPlan,
  halted: HaltReason,
  { failed, undecided }: MapPreview,
  given: number | undefined,
): Refusal {
  const isCounted = halted.kind === 'max_failures' && onFailure === 'stop'
  const more = given === undefined || given <= failed + undecided ? failed + undecided + 10 : given
  const why = given === undefined ? '' : ` --max-failures ${given} would stop it again at once.`
  return {
    kind: 'exhausted',
    message: `Map ${name} was stopped: ${haltText(halted)}.${why}`,
    answers: [...(isCounted ? [{ maxFailures: more }] : []), { resetRetries: true }],
    hasLetters: true,
  }
}

function endRefusal({ name }: MapPlan, { failed, undecided }: MapPreview): Refusal {
  const hasUndecidedItems = undecided > 0
  if (failed === 0) {
    const message = `${countText(undecided)} of map ${name} ${undecided === 1 ? 'is' : 'are'} undecided: only a person can find out whether they took effect.`
    return { kind: 'undecided', message, answers: [], hasUndecidedItems }
  }
  const message = `${countText(failed)} of map ${name} failed for good. A resume does not retry failed items.`
  const answers = [{ resetRetries: true }]
  return { kind: 'exhausted', message, answers, hasLetters: true, ...(hasUndecidedItems && { hasUndecidedItems }) }
}

function countText(items: number): string {
  return items === 1 ? '1 item' : `${items} items`
}
