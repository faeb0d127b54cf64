/**
 * An agent: a process that executes items of the maps of a run while another process conducts the run. It takes plan,
 * parameters and limits from the record, serves the lane that the conductor has open, waits while no process conducts the
 * run, and leaves at the end. Imports the library, the plan and its own layer.
 *
 * Invariants: an agent never conducts: it writes items and where their logs are, and nothing else of the run. It claims
 * nothing while no process conducts the run.
 */
import { hostname } from 'node:os'
import type { DurationInput, Observer, RepriseEvent } from 'reprise'
import {
  type AttemptRow,
  type Durable,
  type GateRecord,
  type Ledger,
  openDurable,
  type RunRecord,
} from 'reprise/durable'
import { failureOf, isTransient, type OtherOwner, sharedLedger } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import { mapsOf, type Plan } from '../../plan/plan.js'
import { beAgent } from '../../process/agent-mark.js'
import { endLeftovers } from '../../process/end-leftovers.js'
import { StateDirectory } from '../../state/state-directory.js'
import type { StateError } from '../../state/state-error.js'
import { ScriptPool } from '../../steps/script-pool.js'
import { repriseVersion } from '../../state/reprise-version.js'
import { AGENT_ROLE } from '../../view/map-agents.js'
import { notesOf } from '../../view/run-notes.js'
import type { Workplaces } from '../../workplaces/workplaces.js'
import { budgetsOf } from '../gates.js'
import { lanesFor } from '../map/lanes-for.js'
import { countsOf, readClasses } from '../map/map-counts.js'
import { mapRunId, partsOfMapRun } from '../map/map-names.js'
import { mapNotesOf } from '../map/map-record.js'
import { openWorkplaces } from '../map/open-workplaces.js'
import type { Performer } from '../performer.js'
import { placeOf } from '../places.js'
import { readPlan } from '../recorded-plan.js'
import type { AgentCounts, AgentEvent, IdleReason, LeaveReason } from './agent-event.js'
import { handsOf } from './agent-hands.js'
import { isHalted, JoinedMap, type OpenLane, openLaneOf } from './joined-map.js'

export interface AgentSettings {
  /** `sqlite:PATH` or `postgres://…`. */
  readonly store: string
  /** Where logs of items are kept. */
  readonly stateDirectory: string
  /** What commands inherit; secrets are taken from here. */
  readonly env: Readonly<Record<string, string>>
  /** Items at a time in this process. */
  readonly parallel: number
  /** Where commands run, in place of the directory that is recorded. */
  readonly cwd?: string
  readonly grace?: DurationInput
  /** How long this process is believed to live without a heartbeat. */
  readonly lease?: DurationInput
  readonly listener?: (event: AgentEvent) => void
  /** Gets the events of the items that run here. */
  readonly observer?: Observer
  /** Items that run are interrupted on purpose, and the agent leaves. */
  readonly signal?: AbortSignal
  /** Throws if items of the run cannot be executed here. Asked whenever a process begins to conduct the run. */
  readonly expectFit: (plan: Plan, run: RunRecord) => void
  /** Throws if that version of reprise conducts the run and this one must not take part. */
  readonly expectVersion: (run: string, version: string, conductor: OtherOwner) => void
}

export interface AgentEnd {
  readonly reason: LeaveReason
  /** The state of the run; null if it is not there any more. */
  readonly state: string | null
  readonly attempts: AgentCounts
}

const LOOK_EVERY_MS = 500
/** A run whose maps have ended may have been taken up again just now, for items that are redriven. */
const LOOKS_BEFORE_LEAVING = 2

/** Serves the maps of a run until it ends, or until it is asked to stop. */
export async function serveRun(record: RunRecord, plan: Plan, settings: AgentSettings): Promise<AgentEnd> {
  beAgent()
  return new Agent(record, settings).serve(plan)
}

interface Joined {
  /** Which conductor of the map it was joined under. */
  readonly key: string
  readonly fingerprint: string
  readonly lanes: JoinedMap
}

interface Conducted {
  readonly record: RunRecord
  readonly plan: Plan
  readonly conductor: OtherOwner
}

class Agent {
  private readonly runId: string
  private readonly settings: AgentSettings
  private readonly correlationId: string
  private readonly state: StateDirectory
  private readonly scripts = new ScriptPool()
  /** By id of the map. */
  private readonly joined = new Map<string, Joined>()
  /** Of earlier conductors: items that were begun then may still run here. */
  private readonly retired: JoinedMap[] = []
  private readonly counts = { succeeded: 0, failed: 0, interrupted: 0 }
  private readonly stopping = new AbortController()
  private conducted: Conducted | undefined = undefined
  private idle: IdleReason | undefined = undefined
  private looksAtEnd = 0
  private isEnding = false
  private failure: StateError | undefined = undefined
  private durable!: Durable
  private ledger!: Ledger

  constructor({ id, correlationId }: RunRecord, settings: AgentSettings) {
    this.runId = id
    this.correlationId = correlationId
    this.settings = settings
    this.state = StateDirectory.open(settings.stateDirectory)
  }

  async serve(plan: Plan): Promise<AgentEnd> {
    const { store, parallel, lease, observer, signal } = this.settings
    const onAbort = (): void => this.stopping.abort()
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
    this.durable = await openDurable(store, {
      concurrency: parallel,
      identity: { role: AGENT_ROLE, version: repriseVersion() },
      observers: [{ onEvent: (event) => this.hear(event) }, ...(observer === undefined ? [] : [observer])],
      // Told to the next look.
      onFailure: () => undefined,
      ...(lease !== undefined && { lease }),
    })
    this.ledger = sharedLedger(this.durable)
    try {
      this.tell({
        ...this.base(),
        type: 'agent_started',
        ...{ name: plan.name, parallel, pid: process.pid, host: hostname(), version: repriseVersion() },
      })
      const reason = await this.untilOver()
      const state = (await this.ledger.run(this.runId))?.status ?? null
      await this.end()
      if (this.failure !== undefined) throw this.failure
      const attempts = { ...this.counts }
      this.tell({ ...this.base(), type: 'agent_finished', reason, state, attempts })
      return { reason, state, attempts }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      try {
        await this.end()
      } finally {
        await this.durable.close()
      }
    }
  }

  private async untilOver(): Promise<LeaveReason> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      const reason = await this.look().catch((error: unknown) => {
        // The store is busy or away: this process waits for it, as all others do.
        if (!isTransient(error)) throw error
        return undefined
      })
      if (reason !== undefined) return reason
      await pause(LOOK_EVERY_MS, signal)
    }
    return 'stopped'
  }

  /** Why there is nothing to do here any more; undefined while there may be. */
  private async look(): Promise<LeaveReason | undefined> {
    const record = await this.ledger.run(this.runId)
    if (record === undefined || record.endedAtMs !== null || record.correlationId !== this.correlationId)
      return 'run_ended'
    const conductor = record.status === 'running' ? await this.durable.runs.conductorOf(record) : undefined
    if (conductor === undefined) {
      for (const { lanes } of this.joined.values()) lanes.pause()
      this.tellIdle('not_conducted')
      return undefined
    }
    const conducted = await this.conductedBy(record, conductor)
    const gates = new Map((await this.ledger.gates()).map((gate) => [gate.key, gate]))
    let [isServing, areEnded] = [false, true]
    for (const map of mapsOf(conducted.plan)) {
      const child = await this.ledger.run(mapRunId(this.runId, map.id))
      isServing = (await this.lookAt(map, child, conducted, gates)) || isServing
      areEnded = (await this.isEnded(map, child)) && areEnded
    }
    if (isServing) this.idle = undefined
    else this.tellIdle('no_map')
    this.looksAtEnd = areEnded ? this.looksAtEnd + 1 : 0
    return this.looksAtEnd >= LOOKS_BEFORE_LEAVING ? 'maps_ended' : undefined
  }

  /** The plan of the process that conducts the run now: it may have accepted a change of the document. */
  private async conductedBy(record: RunRecord, conductor: OtherOwner): Promise<Conducted> {
    const { expectFit, expectVersion } = this.settings
    const before = this.conducted?.record
    // A change of the document is accepted after the run was taken.
    if (before?.fence !== record.fence || before.fingerprint !== record.fingerprint) {
      const { role, version } = conductor
      if (role === 'conductor') expectVersion(this.runId, version ?? '', conductor)
      const plan = await readPlan(this.ledger, record)
      expectFit(plan, record)
      this.conducted = { record, plan, conductor }
    }
    return this.conducted as Conducted
  }

  /** Whether items of the map may begin here. */
  private async lookAt(
    map: MapPlan,
    child: RunRecord | undefined,
    conducted: Conducted,
    gates: ReadonlyMap<string, GateRecord>,
  ): Promise<boolean> {
    const known = this.joined.get(map.id)
    // Of a map that is begun anew, or was ended at once, nothing that runs here is wanted any more.
    const isOver = child === undefined || child.endedAtMs !== null || isHalted(gates, child.id)
    if (isOver) {
      const isEnded = child === undefined || child.endedAtMs !== null
      if (known !== undefined && (isEnded || map.errors.halt === 'now')) await this.leaveMap(map.id, known)
      return false
    }
    // While the run is in other hands than the map was, nothing of it is open.
    const isTaken = child.status === 'running' && child.owner === conducted.record.owner
    const open = isTaken ? openLaneOf(gates, child) : undefined
    if (open === undefined) {
      await known?.lanes.serve(undefined)
      return false
    }
    const lanes = await this.join(map, child, open, conducted)
    if (lanes === undefined) return false
    await lanes.serve(open.lane)
    if (!lanes.isCounted(gates)) await lanes.count()
    return true
  }

  /** The lanes of the map as they are under its conductor; undefined if the run has changed since it was looked at. */
  private async join(
    map: MapPlan,
    child: RunRecord,
    { serving }: OpenLane,
    { record, plan, conductor }: Conducted,
  ): Promise<JoinedMap | undefined> {
    const key = JSON.stringify(serving)
    const known = this.joined.get(map.id)
    if (known?.key === key) return known.lanes
    const { ledger, durable, state, settings } = this
    const now = await ledger.run(this.runId)
    if (now?.fence !== record.fence || now.fingerprint !== record.fingerprint) return undefined
    settings.expectVersion(this.runId, serving.version, conductor)
    if (known !== undefined) await this.part(known, plan)
    const hasGivenBack = known !== undefined && known.fingerprint !== plan.fingerprint
    const { env, grace, store } = settings
    const onStateFailure = (error: StateError): void => this.fail(error)
    const run = await durable.runs.find(record.id)
    const parts = {
      ledger,
      plan,
      run,
      store,
      state,
      env,
      cwd: settings.cwd,
      grace,
      scripts: this.scripts,
      onStateFailure,
    }
    const { scope, performer, mask } = await handsOf(parts, map)
    const notes = mapNotesOf(child)
    const { takenUpAtMs } = serving
    const joined = await durable.runs.join(child.id, {
      budgets: budgetsOf(plan, record.id),
      policyChange: 'accept',
      ...(takenUpAtMs !== null && { sinceMs: takenUpAtMs }),
    })
    const maxParallel = notes.maxParallel ?? map.maxParallel
    const { correlationId } = child
    const cwd = settings.cwd ?? notesOf(record).cwd
    const where = { map, runId: record.id, correlationId, state, cwd, base: notes.base, maxParallel }
    const places = await openWorkplaces({ ...where, isGuest: true })
    const lanes = lanesFor({
      ...{ child: joined, plan, map, runId: record.id, scope, performer, state, onStateFailure, places, mask },
      note: (message) => this.tell({ ...this.base(), type: 'map_note', step: map.id, message }),
      maxFailures: notes.maxFailures ?? map.errors.maxFailures,
      maxParallel,
      onBegin: () => undefined,
    })
    const one = new JoinedMap({
      ...{ ledger, joined, map, lanes, place: placeOf(settings), hasGivenBack },
      ...{ owner: joined.owner, slots: settings.parallel, settled: () => settled(performer, places) },
    })
    this.joined.set(map.id, { key, fingerprint: plan.fingerprint, lanes: one })
    const counts = countsOf(await readClasses(ledger, child.id), { fresh: 0, retrying: 0 }, map.errors)
    const { pid, host } = conductor
    this.tell({ ...this.base(), type: 'map_joined', step: map.id, counts, conductor: { pid, host } })
    return one
  }

  /** With another document, items that run here by the old one are given back; otherwise they may end. */
  private async part({ lanes, fingerprint }: Joined, plan: Plan): Promise<void> {
    if (fingerprint !== plan.fingerprint) return lanes.close()
    lanes.retire()
    this.retired.push(lanes)
  }

  private async leaveMap(id: string, { lanes }: Joined): Promise<void> {
    this.joined.delete(id)
    await lanes.close()
    for (const one of this.retired.filter(({ map }) => map.id === id)) {
      this.retired.splice(this.retired.indexOf(one), 1)
      await one.close()
    }
    this.tell({ ...this.base(), type: 'map_left', step: id })
  }

  /** Whether nothing of the map begins any more, unless its items are redriven. */
  private async isEnded({ id }: MapPlan, child: RunRecord | undefined): Promise<boolean> {
    if (child !== undefined) return child.status === 'succeeded' || child.status === 'completed_with_failures'
    // A map that was skipped has a task in its place.
    const task = await this.ledger.get({ scopeKind: 'run', scope: this.runId, id })
    return task?.status === 'succeeded'
  }

  /** Items that run here are interrupted on purpose; what they had started has ended then. */
  private async end(): Promise<void> {
    if (this.isEnding) return
    this.isEnding = true
    const maps = [...this.joined.values()].map(({ lanes }) => lanes)
    this.joined.clear()
    for (const lanes of [...maps, ...this.retired.splice(0)]) await lanes.close()
    await endLeftovers(this.correlationId, { isPrefix: true, isOwn: true })
    await this.scripts.close()
  }

  /** What items write cannot be kept: no failure of theirs. */
  private fail(error: StateError): void {
    this.failure ??= error
    this.stopping.abort()
  }

  private hear(event: RepriseEvent): void {
    if (event.type !== 'attempt_finished' && event.type !== 'interrupted') return
    const { run, map } = partsOfMapRun(event.scope ?? '') ?? {}
    if (event.scopeKind !== 'run' || run !== this.runId || map === undefined) return
    const { timeMs, taskId: item = '', attempt } = event
    const about = { ...this.base(), timeMs, type: 'item_attempt_finished', step: map, item, attempt } as const
    if (event.type === 'interrupted') {
      // An attempt that a lost process left, and that was taken over here.
      if (!event.orderly) return
      this.counts.interrupted++
      return this.tell({ ...about, outcome: 'interrupted', durationMs: null, failure: null })
    }
    const { outcome, durationMs, error } = event
    this.counts[kindOf(outcome)]++
    this.tell({ ...about, outcome, durationMs, failure: error === undefined ? null : failureOf(error) })
  }

  private tellIdle(reason: IdleReason): void {
    if (this.idle === reason) return
    this.idle = reason
    this.tell({ ...this.base(), type: 'agent_idle', reason })
  }

  private tell(event: AgentEvent): void {
    this.settings.listener?.(event)
  }

  private base(): { timeMs: number; run: string } {
    return { timeMs: Date.now(), run: this.runId }
  }
}

async function settled(performer: Performer, places: Workplaces): Promise<void> {
  await performer.settled()
  await places.close()
}

function kindOf(outcome: AttemptRow['outcome']): keyof AgentCounts {
  if (outcome === 'success') return 'succeeded'
  return outcome === 'failure' || outcome === 'timeout' ? 'failed' : 'interrupted'
}

/** Ends early when the signal is aborted. */
function pause(forMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, forMs)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
