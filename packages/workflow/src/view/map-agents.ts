/** The agents that serve maps, as their rows in the store say. Imports the library and the shapes. */
import type { Ledger } from 'reprise/durable'
import { livingOwners, type OtherOwner } from 'reprise/internal'
import type { MapAgentView } from './map-views.js'

/** What an agent says that it is, where it is named as a process. */
export const AGENT_ROLE = 'agent'

/** The agents that live, as seen from here. */
export class Agents {
  private readonly all: readonly (MapAgentView & { readonly queues: readonly string[] })[]

  private constructor(all: Agents['all']) {
    this.all = all
  }

  /** `living`: the owners that live, if they are known already. */
  static async read(
    ledger: Pick<Ledger, 'leaseNow' | 'owners' | 'spans'>,
    living?: ReadonlyMap<string, OtherOwner>,
  ): Promise<Agents> {
    const isAgent = ({ role }: Pick<OtherOwner, 'role'>): boolean => role === AGENT_ROLE
    if (living !== undefined && ![...living.values()].some(isAgent)) return new Agents([])
    const agents = (await ledger.owners()).filter(isAgent)
    if (agents.length === 0) return new Agents([])
    const known = living ?? (await livingOwners(ledger))
    const all = agents
      .filter(({ id }) => known.has(id))
      .map(({ pid, host, slots = null, startedAtMs, queues = [] }) => ({ pid, host, slots, startedAtMs, queues }))
    return new Agents(all.toSorted((a, b) => a.startedAtMs - b.startedAtMs))
  }

  /** Those that serve a lane of the run's maps, or of this map: `scope` is the id of either run. */
  of(scope: string): MapAgentView[] {
    const serving = this.all.filter(({ queues }) => queues.some((queue) => queue.startsWith(`${scope}/`)))
    return serving.map(({ queues: _queues, ...agent }) => agent)
  }
}
