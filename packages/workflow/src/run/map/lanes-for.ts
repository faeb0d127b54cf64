/**
 * The lanes of a map as one process serves them, whether it conducts the map or is an agent: with the same definitions, so
 * that an item means the same wherever it runs. Imports the library, the plan and its own layer.
 */
import type { Json } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { StateDirectory } from '../../state/state-directory.js'
import type { Performer } from '../performer.js'
import type { Scope } from '../scope.js'
import { ItemBatches } from './item-batches.js'
import { ItemSteps } from './item-steps.js'
import { type LaneParts, MapLanes } from './map-lanes.js'
import { removeUnkeptLog } from './unkept-log.js'

export interface LanesInput extends Omit<LaneParts, 'steps' | 'batches' | 'onSuccess'> {
  readonly map: MapPlan
  readonly scope: Scope
  readonly performer: Performer
  readonly state: StateDirectory
  readonly mask: (value: Json) => Json
  /** What a person should know, and no failure says. */
  readonly note: (message: string) => void
}

export function lanesFor(input: LanesInput): MapLanes {
  const { child, plan, map, runId, maxFailures, maxParallel, onBegin, places } = input
  const { scope, performer, state, mask, note, onStateFailure } = input
  const steps = new ItemSteps({ map, scope, performer })
  const removeLog = (attempt: Parameters<typeof removeUnkeptLog>[1]): void =>
    removeUnkeptLog({ run: runId, map, state, onStateFailure }, attempt)
  const batches = new ItemBatches({
    run: runId,
    map,
    scope,
    steps,
    performer,
    state,
    mask,
    note,
    removeLog,
    places,
    onStateFailure,
  })
  return new MapLanes({
    ...{ child, plan, map, runId, maxFailures, maxParallel, onBegin, places, onStateFailure },
    ...{ steps, batches, onSuccess: removeLog },
  })
}
