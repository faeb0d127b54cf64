/**
 * The lanes of one map as an agent serves them, while one process conducts the map. The gate rows say which lane is open
 * and what an agent has to know for it; whether an item may begin is decided by each claim. Imports the library, the plan
 * and its own layer.
 *
 * Invariant: nothing of the map is written here but its items, and the place where their logs are.
 */
import type { GateRecord, Json, Ledger, RunRecord } from 'reprise/durable'
import { type ItemQueue, type JoinedRun, laneName, queueKey } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import type { MapLanes } from '../map/map-lanes.js'
import { ITEM_LANES } from '../map/map-names.js'
import { laneStateOf, type LaneServing, type LaneState } from '../map/map-record.js'
import { withPlace } from '../places.js'
import type { RunPlace } from '../run-record.js'

export type ItemLane = (typeof ITEM_LANES)[number]

export interface JoinedMapParts {
  readonly ledger: Ledger
  readonly joined: JoinedRun
  readonly map: MapPlan
  readonly lanes: MapLanes
  readonly place: RunPlace
  /** Items that were given back here wait with the policy of an earlier document. */
  readonly hasGivenBack: boolean
  /** Resolves when nothing is left of what the items have started. */
  readonly settled: () => Promise<void>
  /** This process, as an owner. */
  readonly owner: string
  /** Items that it may run at a time. */
  readonly slots: number
}

/** A lane that is open, as its gate says. */
export interface OpenLane {
  readonly lane: ItemLane
  readonly serving: LaneServing
}

/** The lane of the map that may be claimed from now; undefined if none may. */
export function openLaneOf(
  gates: ReadonlyMap<string, GateRecord>,
  { id, fence, correlationId }: RunRecord,
): OpenLane | undefined {
  for (const lane of ITEM_LANES) {
    const { closed, serving } = stateIn(gates, id, lane)
    const isOurs = serving?.fence === fence && serving.correlationId === correlationId
    if (closed !== true && isOurs) return { lane, serving }
  }
  return undefined
}

/** Whether the map was stopped, by any of its lanes. */
export function isHalted(gates: ReadonlyMap<string, GateRecord>, mapRun: string): boolean {
  return ITEM_LANES.some((lane) => stateIn(gates, mapRun, lane).halt !== undefined)
}

function stateIn(gates: ReadonlyMap<string, GateRecord>, mapRun: string, lane: ItemLane): LaneState {
  return laneStateOf(gates.get(queueKey(laneName(mapRun, lane))))
}

export class JoinedMap {
  private readonly parts: JoinedMapParts
  /** The lanes that were opened here; retired ones may still run items. */
  private readonly opened: ItemQueue<never>[] = []
  private current: { readonly lane: ItemLane; readonly queue: ItemQueue<never> } | undefined = undefined
  private isPaused = false

  constructor(parts: JoinedMapParts) {
    this.parts = parts
  }

  get map(): MapPlan {
    return this.parts.map
  }

  /** Serves this lane, and no other; undefined for none. Items that run here go on. */
  async serve(lane: ItemLane | undefined): Promise<void> {
    if (this.current !== undefined && this.current.lane !== lane) {
      this.current.queue.retire()
      this.current = undefined
    }
    if (lane === undefined) return
    if (this.current === undefined) {
      const { lanes } = this.parts
      const queue: ItemQueue<never> = lane === 'redrive' ? lanes.redrive() : lanes.items(lane)
      this.current = { lane, queue }
      this.opened.push(queue)
      await this.enter(queue.gateKey)
      await queue.open()
      if (this.parts.hasGivenBack) await queue.lookAtWaiting()
    } else if (this.isPaused) {
      this.current.queue.goOn()
    }
    this.isPaused = false
  }

  /** Whether this process is among those that serve the open lane. It was taken for lost if it had not been heard of. */
  isCounted(gates: ReadonlyMap<string, GateRecord>): boolean {
    if (this.current === undefined) return true
    return laneStateOf(gates.get(this.current.queue.gateKey)).servers?.[this.parts.owner] !== undefined
  }

  /** The lane is shared with this process, and its items write here. */
  async count(): Promise<void> {
    if (this.current !== undefined) await this.enter(this.current.queue.gateKey)
  }

  /** Nothing begins here until the lane is served again; items that run here go on. */
  pause(): void {
    this.isPaused = true
    this.current?.queue.pause()
  }

  /** Nothing begins here any more; items that run here go on. */
  retire(): void {
    this.current?.queue.retire()
    this.current = undefined
  }

  /**
   * Items that run here are interrupted on purpose, and are begun again under the same number, uncharged. What they had
   * started has ended then.
   */
  async close(): Promise<void> {
    const open = this.current?.queue.gateKey
    this.current = undefined
    for (const queue of this.opened.splice(0)) await queue.close()
    await this.parts.settled()
    this.parts.joined.release()
    if (open !== undefined) await this.leave(open)
  }

  /**
   * Takes a part of the places of the lane. Where its items write is recorded before they do: should this process be
   * killed, it is known where to look.
   */
  private async enter(gateKey: string): Promise<void> {
    const { place, owner, slots } = this.parts
    await this.change(gateKey, (state) =>
      state.serving === undefined
        ? state
        : { ...state, servers: { ...state.servers, [owner]: slots }, places: withPlace(state.places, place) },
    )
  }

  private async leave(gateKey: string): Promise<void> {
    await this.change(gateKey, ({ servers = {}, ...state }) => {
      const { [this.parts.owner]: own, ...others } = servers
      return own === undefined ? { ...state, servers } : { ...state, servers: others }
    })
  }

  private async change(gateKey: string, how: (state: LaneState) => LaneState): Promise<void> {
    await this.parts.ledger.transact({ tasks: [], gates: [gateKey] }, (view) => {
      const gate = view.gate(gateKey)
      const state = laneStateOf(gate)
      const changed = how(state)
      if (gate === undefined || changed === state) return { result: undefined }
      return { gates: [{ ...gate, state: changed as unknown as Json }], result: undefined }
    })
  }
}
