/**
 * Whose turn it is among the lanes of a map: the process that conducts the map opens one lane at a time, in the gate rows
 * that every claim locks. Agents serve the lane that is open, and learn there what they need to serve it as the conductor
 * does. Imports the library and its own layer.
 *
 * Invariants: a lane is opened when no item of the others runs in any process, so `max_parallel` holds for all lanes
 * together. Only the conductor of the map writes turns: its fence is compared in the same transaction.
 */
import { type GateRecord, type Json, type Ledger, type RunRecord, TaskRefusedError } from 'reprise/durable'
import { type ItemQueue, queueKey } from 'reprise/internal'
import { repriseVersion } from '../../state/reprise-version.js'
import { runningItems } from './map-counts.js'
import { itemQueues } from './map-names.js'
import { laneStateOf, type LaneState } from './map-record.js'

type Lane = Pick<ItemQueue<never>, 'queue' | 'open' | 'close' | 'lookForLost' | 'makeGate' | 'takenUpAtMs'>

/** A lane with its turn: open while items of it may begin, in any process. */
export type ServedLane = Pick<ItemQueue<never>, 'queue' | 'open' | 'close' | 'lookForLost' | 'lookAtWaiting'>

export interface TurnParts {
  readonly ledger: Ledger
  /** The run of the map, as this process took it. */
  readonly child: Pick<RunRecord, 'id' | 'fence' | 'correlationId'>
  /** This process, as an owner. */
  readonly owner: string
  /** Items that it may run at a time. */
  readonly slots: number
  /** All lanes of items. */
  readonly lanes: () => readonly Lane[]
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
  readonly note: (message: string) => void
}

const LOOK_EVERY_MS = 200
/** People are told why nothing begins if it takes longer than this. */
const TELL_AFTER_MS = 2000

export class LaneTurns {
  private readonly parts: TurnParts

  constructor(parts: TurnParts) {
    this.parts = parts
  }

  /** Nothing of the map begins in any process: a conductor that was killed has left its lane open. */
  async closeAll(): Promise<void> {
    await this.change(itemQueues(this.parts.child.id), closed)
  }

  /** The lane, opened and closed with its turn. */
  of(queue: ItemQueue<never>): ServedLane {
    return {
      queue: queue.queue,
      open: async (signal) => {
        await this.untilAtRest(queue.queue)
        await queue.makeGate()
        if (signal?.aborted !== true) await this.open(queue)
        await queue.open(signal)
      },
      close: async () => {
        try {
          // Of a run that is stopped, agents see that nobody conducts it, and a store that is away is not waited for.
          if (!this.parts.signal.aborted) await this.closeAll()
        } finally {
          await queue.close()
        }
      },
      lookForLost: () => {
        queue.lookForLost()
        void this.dropLostServers(queue.queue).catch(() => undefined)
      },
      lookAtWaiting: () => queue.lookAtWaiting(),
    }
  }

  /** Resolves when no item runs in any process, but for those of one lane, or the run is stopped. */
  async untilAtRest(except?: string): Promise<void> {
    const { signal, lanes, note } = this.parts
    const others = lanes().filter(({ queue }) => queue !== except)
    const queues = others.map(({ queue }) => queue)
    if (signal.aborted || (await this.running(queues)) === 0) return
    // Items of lost processes are taken over only where their lanes are known. Opened like this, a lane begins nothing.
    for (const lane of others) await lane.open(AbortSignal.abort())
    try {
      const sinceMs = performance.now()
      let isTold = false
      for (let left = await this.running(queues); left > 0 && !signal.aborted; left = await this.running(queues)) {
        if (!isTold && performance.now() - sinceMs > TELL_AFTER_MS) {
          note(`Waiting for ${left === 1 ? '1 item' : `${left} items`} that other processes run.`)
          isTold = true
        }
        for (const lane of others) lane.lookForLost()
        await pause(LOOK_EVERY_MS)
      }
    } finally {
      for (const lane of others) await lane.close()
    }
  }

  /** Places are not kept for agents that are gone. A ledger that fails is told to whoever writes next. */
  private async dropLostServers(queue: string): Promise<void> {
    const { ledger } = this.parts
    const gate = (await ledger.gates()).find(({ key }) => key === queueKey(queue))
    if (Object.keys(laneStateOf(gate).servers ?? {}).length < 2) return
    const [now, owners] = [await ledger.leaseNow(), await ledger.owners()]
    const living = new Set(owners.filter(({ leaseUntilMs }) => leaseUntilMs > now).map(({ id }) => id))
    const isLost = ([owner]: [string, number]): boolean => owner !== this.parts.owner && !living.has(owner)
    if (!Object.entries(laneStateOf(gate).servers ?? {}).some(isLost)) return
    await this.change([queue], ({ servers = {}, ...state }) => ({
      ...state,
      servers: Object.fromEntries(Object.entries(servers).filter((server) => !isLost(server))),
    }))
  }

  private async running(queues: readonly string[]): Promise<number> {
    return (await runningItems(this.parts.ledger, queues, { withInput: false })).length
  }

  private async open({ queue, takenUpAtMs }: Lane): Promise<void> {
    const { fence, correlationId } = this.parts.child
    const serving = { fence, correlationId, takenUpAtMs: takenUpAtMs ?? null, version: repriseVersion() }
    const { owner, slots } = this.parts
    const servers = { [owner]: slots }
    await this.change([queue], ({ closed: _closed, ...state }) => ({ ...state, serving, servers }))
  }

  private async change(queues: readonly string[], how: (state: LaneState) => LaneState): Promise<void> {
    const { ledger, child } = this.parts
    const keys = queues.map(queueKey)
    await ledger.transact({ tasks: [], gates: keys, runs: [child.id] }, (view) => {
      const run = view.run(child.id)
      if (run?.fence !== child.fence || run.correlationId !== child.correlationId)
        throw new TaskRefusedError('run_lost', `Run ${child.id} was taken over by another process`)
      const gates = keys.flatMap((key): GateRecord[] => {
        const gate = view.gate(key)
        return gate === undefined ? [] : [{ ...gate, state: how(laneStateOf(gate)) as unknown as Json }]
      })
      return { gates, result: undefined }
    })
  }
}

function closed({ serving: _serving, servers: _servers, ...state }: LaneState): LaneState {
  return { ...state, closed: true }
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs))
}
