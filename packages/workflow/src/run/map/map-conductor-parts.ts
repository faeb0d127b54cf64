/** What conducts a map: the run that it is a part of, and what performs its items. Imports types. */
import type { Durable, Json, Ledger } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import type { InputSources } from '../../items/open-entries.js'
import type { MapPlan } from '../../plan/map-plan.js'
import type { Plan } from '../../plan/plan.js'
import type { StateDirectory } from '../../state/state-directory.js'
import type { StateError } from '../../state/state-error.js'
import type { Performer } from '../performer.js'
import type { RunEvent } from '../run-event.js'
import type { Scope } from '../scope.js'
import type { MapSettings } from './map-settings.js'

export interface MapConductorParts {
  readonly run: DurableRun
  readonly durable: Durable
  readonly ledger: Ledger
  readonly plan: Plan
  readonly scope: Scope
  /** The directory that the run works in. */
  readonly cwd: string
  readonly performer: Performer
  readonly state: StateDirectory
  readonly mask: (value: Json) => Json
  readonly tell: (event: RunEvent) => void
  readonly sources: (map: MapPlan) => InputSources
  readonly settings: MapSettings
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
  /** What cannot be kept is no failure of an item: the run is stopped. */
  readonly onStateFailure: (error: StateError) => void
}
