/**
 * What one process does for one run: opens the store, conducts, and leaves everything so that the next one can go on.
 * A stop that is asked for ends the attempts in flight, records them as interrupted, waits until their processes are
 * gone, and gives the run up. So does a log that cannot be written, and then it says why. Imports the library and its own
 * layer.
 */
import type { DurationInput } from 'reprise'
import { type Durable, type Json, type Ledger, openDurable, TaskRefusedError } from 'reprise/durable'
import { type ConductOptions, type DurableRun, sharedLedger } from 'reprise/internal'
import { Masker } from '../masking/masker.js'
import { type Action, mapsOf, type Plan, stepsOf } from '../plan/plan.js'
import { expectContent } from './lost-content.js'
import { secretAddress } from '../state/own-store.js'
import { StateDirectory } from '../state/state-directory.js'
import type { StateError } from '../state/state-error.js'
import { endLeftovers } from '../process/end-leftovers.js'
import { preparePipes } from '../process/pipes.js'
import { ScriptPool } from '../steps/script-pool.js'
import type { OutputListener } from './attempt-output.js'
import { closeAfterEvents } from './close-after-events.js'
import { Conductor, type ConductorParts, type RunEnd } from './conductor.js'
import { changesOf, notesAtEnd } from './conductor-notes.js'
import { expectUsableGates, orClosed } from './expect-gates.js'
import { budgetsOf } from './gates.js'
import type { InputSources } from '../items/open-entries.js'
import type { MapPlan } from '../plan/map-plan.js'
import { inputSources } from './map/input-sources.js'
import { MapConductor } from './map/map-conductor.js'
import type { MapSettings } from './map/map-settings.js'
import type { MapEnd } from './map/map-end.js'
import { mapRunId } from './map/map-names.js'
import { recallMap } from './map/recall-map.js'
import { mapNotesOf } from './map/map-record.js'
import { isFinallyLeft } from '../view/handlers-left.js'
import type { Performer } from './performer.js'
import { performerFor } from './performer-for.js'
import { type RecordedSteps, stepsBefore } from './recorded-steps.js'
import { grantRepeated } from './repeat-from.js'
import { RunClock } from './run-clock.js'
import { notesOf } from '../view/run-notes.js'
import { repriseVersion } from '../state/reprise-version.js'
import { type GroupMember, inGroup } from './run-group.js'
import { notesAsJson, type RunNotes } from './run-record.js'
import { withEnvFiles } from './env-files.js'
import { LiveEvents } from '../view/live-events.js'
import { readStepCounts, withPending } from '../view/step-counts.js'
import type { EventView } from '../view/views.js'
import type { Scope } from './scope.js'
import type { RunEvent } from './run-event.js'
import { limitTime } from './time-limit.js'
import { monotonicMs, stepTimeBefore, timesBefore } from './times-before.js'
import { type Listener, RunEvents } from './run-events.js'

export interface RunSettings {
  /** `sqlite:PATH` or `postgres://…`; or open durable tasks, whose process the run shares and which stay open. */
  readonly store: string | Durable
  /** Where logs are kept. */
  readonly stateDirectory: string
  /** What commands inherit. */
  readonly env: Readonly<Record<string, string>>
  /** From asking a process to end to making it; 5s when absent. */
  readonly grace?: DurationInput
  readonly listener?: Listener
  /** Hears what is recorded of the run as it goes on, and beside it what is not: output, progress, figures. */
  readonly eventListener?: (event: EventView) => void
  /**
   * Whether the listener is told the state of every step when a run is resumed, which reads all of them. Otherwise those that
   * had ended are told as succeeded, and only `counts` tells recovered and skipped ones apart.
   * @default true
   */
  readonly areStepsTold?: boolean
  /** Hears what attempts write as it is in their logs, and when a log is complete. */
  readonly output?: OutputListener
  /** Hears what commands write, as they write it and not masked; what it returns is waited for. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number) => void | Promise<void>
  /** Looks at what was written, before the ledger is closed. */
  readonly atEnd?: (ledger: Ledger, end: RunEnd) => Promise<void>
  /** How its maps are conducted this time. */
  readonly maps?: MapSettings
  /** Stop and save. */
  readonly signal?: AbortSignal
}

interface SessionParts {
  readonly plan: Plan
  readonly settings: RunSettings
  readonly ledger: Ledger
  readonly durable: Durable
  /** What the run brings along while this process conducts it. */
  readonly conductWith: ConductOptions
  readonly state: StateDirectory
  readonly masker: Masker
  readonly events: RunEvents
  /** `atMs`: when it happened, by the monotonic clock; now, if absent. */
  readonly tell: (event: RunEvent, atMs?: number) => void
  readonly clock: RunClock
  readonly live: LiveEvents | undefined
}

/** What became of the run while this process had it. */
interface Passage {
  readonly end: RunEnd
  readonly notes: RunNotes
  /** Why a log could not be written; undefined if all could. */
  readonly failure: StateError | undefined
}

/** What the handlers of a run are made of. */
interface Given {
  readonly run: DurableRun
  readonly notes: RunNotes
  /** Records other notes from now on. */
  readonly note: (notes: RunNotes) => Promise<void>
  readonly scripts: ScriptPool
  readonly recorded: RecordedSteps
  readonly onStateFailure: (error: StateError) => void
}

/** What a map needs of the run that it is a part of. */
interface MapGiven {
  readonly run: DurableRun
  readonly scope: Scope
  readonly performer: Performer
  readonly notes: RunNotes
  readonly signal: AbortSignal
  readonly onStateFailure: (error: StateError) => void
}

/** A ledger that fails is told to whoever uses it next, and by the close at the latest. */
const OWN_DURABLE = { onFailure: () => undefined } as const
/** Of a process that conducts maps: `max_parallel` of each map decides, which may be raised while it runs. */
const MOST_PARALLEL = 10_000
const STARTS_PROCESSES: ReadonlySet<Action['kind']> = new Set(['run', 'shell', 'claude'])

const CANCELLED: RunEnd = { state: 'cancelled', stopReason: 'aborted', failedStep: null, undecided: [] }
/** How soon a process that was stopped for long notices that its run has been taken. */
const LOOK_EVERY_MS = 1000

export class Session {
  readonly durable: Durable
  private readonly parts: SessionParts

  private constructor(parts: SessionParts) {
    this.durable = parts.durable
    this.parts = parts
  }

  /** `accept`: the plan may not be the one that the run was begun with. */
  static async open(
    plan: Plan,
    runId: string,
    { documentDir, ...given }: RunSettings & { readonly documentDir: string },
    accept = false,
  ): Promise<Session> {
    const settings = { ...given, env: withEnvFiles(plan, documentDir, given.env) }
    const state = StateDirectory.open(settings.stateDirectory)
    const { store } = settings
    if (typeof store === 'string') await expectContent(store, settings.stateDirectory)
    const clock = new RunClock()
    let live: LiveEvents | undefined
    const tell: SessionParts['tell'] = (event, atMs = monotonicMs()) => {
      clock.tell(event, atMs)
      settings.listener?.(event)
      live?.hear(event)
    }
    const events = new RunEvents(runId, plan, (event) => tell(event), Date.now)
    const secrets = Object.fromEntries(plan.secrets.map((name) => [name, settings.env[name] ?? '']))
    const masker = new Masker({ ...secrets, '--store': typeof store === 'string' ? secretAddress(store) : '' })
    // They are made by another process while this one opens the ledger.
    const steps = [...stepsOf(plan), ...mapsOf(plan).flatMap(({ template }) => template)]
    if (steps.some(({ action }) => STARTS_PROCESSES.has(action.kind))) preparePipes()
    const own = { ...OWN_DURABLE, identity: { role: 'conductor', version: repriseVersion() } }
    const options = mapsOf(plan).length === 0 ? own : { ...own, concurrency: MOST_PARALLEL }
    const durable = typeof store === 'string' ? await openDurable(store, options) : store
    const conductWith: ConductOptions = {
      budgets: budgetsOf(plan, runId),
      observer: events,
      policyChange: accept ? 'accept' : 'refuse',
    }
    const ledger = sharedLedger(durable)
    live = settings.eventListener && new LiveEvents(ledger, runId, settings.eventListener)
    const session = new Session({
      plan,
      settings,
      ledger,
      durable,
      conductWith,
      state,
      masker,
      events,
      tell,
      clock,
      live,
    })
    return orClosed(session, expectUsableGates(ledger, plan, runId))
  }

  /** Nothing secret is written. */
  mask(value: Json): Json {
    return this.parts.masker.maskJson(value)
  }

  /**
   * What a process that is gone has left running of this run, whether or not its step runs again. Agents go on with their
   * items, unless these are taken from them by force.
   */
  async endLeftovers({ id, record }: DurableRun): Promise<void> {
    const { state, settings } = this.parts
    const sparesAgents = settings.maps?.force !== true
    await endLeftovers(record.correlationId, { isPrefix: true, sparesAgents, groupFiles: state.groupFilesOf(id) })
  }

  /** The limit of time of the run counts from now. */
  async restartTime(run: DurableRun, notes: RunNotes): Promise<RunNotes> {
    if (this.parts.plan.timeoutMs === null) return notes
    const timed = { ...notes, timedFromMs: await this.parts.ledger.now() }
    await run.change({ detail: this.mask(notesAsJson(timed)) })
    return timed
  }

  /** What `start` and `take` of the run need. */
  get conductWith(): ConductOptions {
    return this.parts.conductWith
  }

  /** Does something while the run has the group that its workflow names, if it names one. */
  inGroup(who: GroupMember, act: () => Promise<RunEnd>): Promise<RunEnd> {
    return inGroup({ ...this.parts, ...who, mask: (value) => this.mask(value) }, act)
  }

  /** Durable tasks that were given stay open. */
  async close(): Promise<void> {
    const { live, settings } = this.parts
    await closeAfterEvents(live, typeof settings.store === 'string' ? this.durable : undefined)
  }

  /** Conducts the run to its end, or until it is asked to stop. */
  async conduct(run: DurableRun, given: RunNotes): Promise<RunEnd> {
    const { ledger, settings } = this.parts
    const force = settings.maps?.force === true
    const notes = await grantRepeated({ ...this.parts, run, force, mask: (value) => this.mask(value) }, given)
    const { listener, areStepsTold = listener !== undefined } = settings
    const recorded = await stepsBefore(run, notes, this.parts, areStepsTold)
    await this.tellStart(run, recorded)
    let passage = await this.passage(run, notes, recorded)
    const again = await this.takenForFinally(run, passage.end)
    try {
      if (again !== undefined) {
        const ending = notesOf(again.record)
        passage = await this.passage(again, ending, await stepsBefore(again, ending, this.parts, false))
      }
      const { end, failure } = passage
      await this.conclude(again ?? run, end, passage.notes)
      if (failure !== undefined) throw failure
      await settings.atEnd?.(ledger, end)
      return end
    } finally {
      again?.release()
    }
  }

  /** From taking the run to giving it up; what was begun has ended then. */
  private async passage(run: DurableRun, given: RunNotes, recorded: RecordedSteps): Promise<Passage> {
    let notes = given
    const { settings } = this.parts
    const scripts = new ScriptPool()
    let stopped: Promise<void> | undefined
    let failure: StateError | undefined
    let giveUp: (error: unknown) => void = () => undefined
    const unrecorded = new Promise<never>((_resolve, reject) => (giveUp = reject))
    // Heard below, unless something else fails first.
    unrecorded.catch(() => undefined)
    const stop = (): void => {
      conductor.stop()
      stopped ??= run.stop()
      stopped.catch(giveUp)
    }
    const onStateFailure = (error: StateError): void => {
      failure ??= error
      stop()
    }
    const note = async (changed: RunNotes): Promise<void> => {
      notes = changed
      await run.change({ detail: this.mask(notesAsJson(notes)) })
    }
    const { performer, conductor } = this.handlersOf({ run, notes, note, scripts, recorded, onStateFailure })
    settings.signal?.addEventListener('abort', stop, { once: true })
    if (settings.signal?.aborted === true) stop()
    const unwatch = this.watch(run, stop)
    const untime = await limitTime({ ...this.parts, run, notes, conductor })
    try {
      // A stop that cannot be recorded ends the passage: what the conductor asks of the store would be waited for longer.
      const told = await Promise.race([conductor.conduct(), unrecorded])
      await stopped
      const end = told.state === 'interrupted' && (await this.isCancelled(run)) ? CANCELLED : this.maskedEnd(told)
      await performer.settled()
      // What a script has started, or could not be found when its step ended.
      await endLeftovers(run.record.correlationId, { isPrefix: true, isOwn: true })
      return { end, notes, failure }
    } finally {
      settings.signal?.removeEventListener('abort', stop)
      unwatch()
      untime()
      await performer.settled()
      await scripts.close()
    }
  }

  private maskedEnd(end: RunEnd): RunEnd {
    const { outputs } = end
    return outputs === undefined ? end : { ...end, outputs: this.mask(outputs) as Readonly<Record<string, Json>> }
  }

  /** The run once more, if somebody has cancelled it and its steps of `finally` are still to run. */
  private async takenForFinally(run: DurableRun, { state }: RunEnd): Promise<DurableRun | undefined> {
    const { durable, ledger, plan, settings } = this.parts
    if (state !== 'cancelled' || settings.signal?.aborted === true) return undefined
    const { record } = await durable.runs.find(run.id)
    if (!(await isFinallyLeft(ledger, record, plan))) return undefined
    // Before it is taken again: events would be told twice.
    run.release()
    try {
      return await durable.runs.take(run.id, { ...this.conductWith, fence: record.fence })
    } catch (error) {
      if (error instanceof TaskRefusedError && error.kind === 'locked') return undefined
      throw error
    }
  }

  private async isCancelled({ id }: DurableRun): Promise<boolean> {
    return (await this.durable.runs.find(id)).record.status === 'cancelled'
  }

  /** Who has lost the run, to another process or for good, does not wait for what becomes of its tasks. */
  private watch(run: DurableRun, onLost: () => void): () => void {
    const { runs } = this.parts.durable
    const look = async (): Promise<void> => {
      const { fence } = (await runs.find(run.id)).record
      if (fence !== run.record.fence) onLost()
    }
    // A ledger that fails is told to whoever writes next.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS)
    timer.unref()
    return () => clearInterval(timer)
  }

  private handlersOf(given: Given): { performer: Performer; conductor: Conductor } {
    const { run, notes, scripts, recorded, onStateFailure } = given
    const { plan, settings, state, masker, events, ledger } = this.parts
    const { env, grace, onOutput, output } = settings
    const { id: runId, record } = run
    const { correlationId } = record
    const onLine = (step: string, attempt: number, line: string): void => events.output(step, attempt, line)
    const heard = { onLine, onOutput, output, onStateFailure }
    const { scope, performer } = performerFor({
      ...{ runId, correlationId, plan, notes, env, grace, state, masker, scripts },
      ...heard,
    })
    const isCancelled = (): Promise<boolean> => this.isCancelled(run)
    const conducting = (map: MapPlan, signal: AbortSignal): MapConductor =>
      this.mapConductor(map, { run, scope, performer, notes, signal, onStateFailure })
    const conductMap = (map: MapPlan, signal: AbortSignal, unfit?: Error): Promise<MapEnd> =>
      unfit === undefined ? conducting(map, signal).conduct() : conducting(map, signal).fail(unfit)
    const takeOverMap = (map: MapPlan): Promise<void> => conducting(map, AbortSignal.abort()).takeOverLost()
    const isMapBegun = (map: MapPlan): Promise<boolean> => this.isMapBegun(runId, map)
    const isRedriveOnly = settings.maps?.redrive?.isOnly === true
    const figuresOf: ConductorParts['recallMap'] = (map) => recallMap({ ledger, state, runId }, map)
    const maps = { conductMap, takeOverMap, recallMap: figuresOf, isMapBegun }
    const recall = async (step: string): Promise<void> => events.recall(await stepTimeBefore(ledger, run, step))
    const known = { run, plan, scope, performer, events, recorded, recall, isCancelled }
    const conductor = new Conductor({ ...known, ...maps, ...changesOf(given.notes, given.note), isRedriveOnly })
    return { performer, conductor }
  }

  private async isMapBegun(runId: string, map: MapPlan): Promise<boolean> {
    const record = await this.parts.ledger.run(mapRunId(runId, map.id))
    return record !== undefined && mapNotesOf(record).isEnumerated
  }

  private mapConductor(map: MapPlan, given: MapGiven): MapConductor {
    const { run, scope, performer, notes, signal, onStateFailure } = given
    const { durable, ledger, plan, state, tell, settings } = this.parts
    const { cwd } = notes
    const parts = { run, durable, ledger, plan, scope, cwd, performer, state, tell, signal, onStateFailure }
    const { maps = {} } = settings
    const { correlationId } = run.record
    const where = { runId: run.id, correlationId, state, documentDir: notes.documentDir }
    const from = { ...where, performer, scope, signal, stdin: maps.stdin }
    const sources = (of: MapPlan): InputSources => inputSources(from, of)
    const mask = (value: Json): Json => this.mask(value)
    return new MapConductor({ ...parts, mask, sources, settings: maps }, map)
  }

  private async conclude(run: DurableRun, end: RunEnd, notes: RunNotes): Promise<void> {
    const times = this.parts.clock.at(monotonicMs())
    const detail = this.mask(notesAsJson(notesAtEnd(notes, end, { ...times, resumes: run.record.resumes })))
    try {
      if (end.state === 'interrupted') await run.leave(detail)
      else await run.finish(end.state, detail)
    } catch (error) {
      // Whoever cancelled it has written so.
      const isWritten = end.state === 'cancelled' && error instanceof TaskRefusedError && error.kind === 'run_lost'
      if (!isWritten) throw error
    }
    const { id } = run
    this.parts.tell({
      type: 'run_finished',
      timeMs: Date.now(),
      run: id,
      state: end.state,
      stopReason: end.stopReason,
      ...times,
    })
  }

  private async tellStart(run: DurableRun, recorded: RecordedSteps): Promise<void> {
    const { ledger, plan, events, tell } = this.parts
    const { times, stepMs, untilMs } = await timesBefore(ledger, run)
    events.recall(stepMs)
    const steps = plan.phases.map(({ id, name }) => {
      return { id, name, state: recorded.get(id)?.state ?? ('pending' as const) }
    })
    const { id, resumes } = run.record
    const counts = withPending(resumes === 0 ? {} : await readStepCounts(ledger, id, false), steps.length)
    const about = { run: id, name: plan.name, steps, counts, resumes }
    tell({ type: 'run_started', timeMs: Date.now(), ...about, ...times }, untilMs)
  }
}
