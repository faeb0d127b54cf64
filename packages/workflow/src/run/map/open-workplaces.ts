/** Where the attempts of a map work, as its plan says. Imports the plan, the state directory and the places. */
import type { Ledger } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import { mapsOf, type Plan } from '../../plan/plan.js'
import type { StateDirectory } from '../../state/state-directory.js'
import { SetupError } from '../../values/setup-error.js'
import { OwnDirectories, SHARED_PLACE, type Workplaces } from '../../workplaces/workplaces.js'

export interface WorkplacesInput {
  readonly map: MapPlan
  /** The id of the run that the map is a part of. */
  readonly runId: string
  /** Of the map's own run. */
  readonly correlationId: string
  readonly state: StateDirectory
  readonly cwd: string
  /** The commit that working trees begin with; null for a map without. */
  readonly base: string | null
  readonly maxParallel: number
  /** Another process conducts the map. */
  readonly isGuest?: boolean
}

export async function openWorkplaces(input: WorkplacesInput): Promise<Workplaces> {
  const { map, runId, correlationId, state, cwd, base, maxParallel: most, isGuest = false } = input
  if (map.isolation === 'none') return SHARED_PLACE
  const directory = state.mapDirectory(runId, map.id)
  if (map.isolation === 'directory') return new OwnDirectories(directory, cwd)
  const { openWorktrees } = await import('../../workplaces/worktrees.js')
  return openWorktrees({ cwd, directory, run: runId, map: map.id, correlationId, base: base ?? '', most, isGuest })
}

/**
 * The commit that working trees begin with: the one that is checked out now. Throws a `SetupError` where an earlier step has
 * left changes that are not committed: the items would not see them.
 */
export async function baseCommit({ id, isolation }: MapPlan, cwd: string): Promise<string | null> {
  if (isolation !== 'worktree') return null
  const { changedFiles, findRepository, headOf } = await import('../../workplaces/repository.js')
  const repository = await findRepository(cwd)
  if (repository === undefined)
    throw new SetupError('no_repository', `map ${id} works in worktrees, and ${cwd} is in no git repository`)
  const [changed] = await changedFiles(repository)
  if (changed === undefined) return headOf(repository)
  const message = `map ${id} works in worktrees, and ${changed} is changed and not committed: let the step before it commit`
  throw new SetupError('uncommitted_changes', message)
}

/** That the maps of a plan can have the places that it says, before anything of the run is begun: see `expectWorktrees`. */
export async function expectWorkplaces(ledger: Ledger, plan: Plan, cwd: string, isNew: boolean): Promise<void> {
  const map = mapsOf(plan).find(({ isolation }) => isolation === 'worktree')
  if (map === undefined) return
  const { expectWorktrees } = await import('../../workplaces/repository.js')
  await expectWorktrees({ map: map.name, cwd, spans: ledger.spans, isNew })
}
