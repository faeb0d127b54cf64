/**
 * What one process does for one run: opens the store, conducts, and leaves everything so that the next one can go on.
 * A stop that is asked for ends the attempts in flight, records them as interrupted, waits until their processes are
 * gone, and gives the run up. So does a log that cannot be written, and then it says why. Imports the library and its own
 * layer.
 */
import { type DurationInput, parseDuration } from 'reprise'
import { type Durable, type Json, type Ledger, openDurable, TaskRefusedError } from 'reprise/durable'
import { type ConductOptions, type DurableRun, sharedLedger } from 'reprise/internal'
import { maskCommandEnd } from '../masking/masked-output.js'
import { Masker } from '../masking/masker.js'
import type { Command } from '../process/command.js'
import { type Action, mapsOf, type Plan, stepsOf } from '../plan/plan.js'
import { expectOwnStore, secretAddress } from '../state/own-store.js'
import { StateDirectory } from '../state/state-directory.js'
import type { StateError } from '../state/state-error.js'
import { failureOfCommand } from '../process/command-error.js'
import { endLeftovers } from '../process/end-leftovers.js'
import { preparePipes } from '../process/pipes.js'
import { runCommand } from '../process/run-command.js'
import { ScriptPool } from '../steps/script-pool.js'
import type { OutputListener } from './attempt-output.js'
import { Conductor, type ConductorParts, type RunEnd } from './conductor.js'
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
import { isFinallyLeft } from './handlers-left.js'
import { Performer } from './performer.js'
import { RecordedSteps, recordedSteps } from './recorded-steps.js'
import { RunClock } from './run-clock.js'
import { notesAsJson, notesOf, type RunEnding, type RunNotes } from './run-record.js'
import { readStepCounts, sumOfCounts } from '../view/step-counts.js'
import { Scope } from './scope.js'
import type { RunEvent } from './run-event.js'
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
}

/** What became of the run while this process had it. */
interface Passage {
  readonly end: RunEnd
  readonly notes: RunNotes
  /** Why a log could not be written; undefined if all could. */
  readonly failure: StateError | undefined
}

/** What the hands of a run are made of. */
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

const GRACE = '5s'
/** A ledger that fails is told to whoever uses it next, and by the close at the latest. */
const OWN_DURABLE = { onFailure: () => undefined, identity: { role: 'conductor' } } as const
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
  static async open(plan: Plan, runId: string, settings: RunSettings, accept = false): Promise<Session> {
    const state = StateDirectory.open(settings.stateDirectory)
    const { store } = settings
    if (typeof store === 'string') expectOwnStore(store, settings.stateDirectory)
    const clock = new RunClock()
    const tell: SessionParts['tell'] = (event, atMs = monotonicMs()) => {
      clock.tell(event, atMs)
      settings.listener?.(event)
    }
    const events = new RunEvents(runId, plan, (event) => tell(event), Date.now)
    const secrets = Object.fromEntries(plan.secrets.map((name) => [name, settings.env[name] ?? '']))
    const masker = new Masker({ ...secrets, '--store': typeof store === 'string' ? secretAddress(store) : '' })
    // They are made by another process while this one opens the ledger.
    const steps = [...stepsOf(plan), ...mapsOf(plan).flatMap(({ template }) => template)]
    if (steps.some(({ action }) => STARTS_PROCESSES.has(action.kind))) preparePipes()
    const options = mapsOf(plan).length === 0 ? OWN_DURABLE : { ...OWN_DURABLE, concurrency: MOST_PARALLEL }
    const durable = typeof store === 'string' ? await openDurable(store, options) : store
    const conductWith: ConductOptions = {
      budgets: budgetsOf(plan, runId),
      observer: events,
      policyChange: accept ? 'accept' : 'refuse',
    }
    const ledger = sharedLedger(durable)
    return new Session({ plan, settings, ledger, durable, conductWith, state, masker, events, tell, clock })
  }

  /** Nothing secret is written. */
  mask(value: Json): Json {
    return this.parts.masker.maskJson(value)
  }

  /** What a process that is gone has left running of this run, whether or not its step runs again. */
  async endLeftovers({ id, record }: DurableRun): Promise<void> {
    await endLeftovers(record.correlationId, { isPrefix: true, groupFiles: this.parts.state.groupFilesOf(id) })
  }

  /** What `start` and `take` of the run need. */
  get conductWith(): ConductOptions {
    return this.parts.conductWith
  }

  /** Durable tasks that were given stay open. */
  async close(): Promise<void> {
    if (typeof this.parts.settings.store === 'string') await this.durable.close()
  }

  /** Conducts the run to its end, or until it is asked to stop. */
  async conduct(run: DurableRun, notes: RunNotes): Promise<RunEnd> {
    const { ledger, settings } = this.parts
    const { listener, areStepsTold = listener !== undefined } = settings
    const recorded = await this.recorded(run, notes, areStepsTold)
    await this.tellStart(run, recorded)
    let passage = await this.passage(run, notes, recorded)
    const again = await this.takenForFinally(run, passage.end)
    try {
      if (again !== undefined) {
        const ending = notesOf(again.record)
        passage = await this.passage(again, ending, await this.recorded(again, ending, false))
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
    const stop = (): void => {
      conductor.stop()
      stopped ??= run.stop()
      // Waited for below, unless something else fails first.
      stopped.catch(() => undefined)
    }
    const onStateFailure = (error: StateError): void => {
      failure ??= error
      stop()
    }
    const note = async (changed: RunNotes): Promise<void> => {
      notes = changed
      await run.change({ detail: this.mask(notesAsJson(notes)) })
    }
    const { performer, conductor } = this.handsOf({ run, notes, note, scripts, recorded, onStateFailure })
    settings.signal?.addEventListener('abort', stop, { once: true })
    if (settings.signal?.aborted === true) stop()
    const unwatch = this.watch(run, stop)
    try {
      const told = await conductor.conduct()
      const end = told.state === 'interrupted' && (await this.isCancelled(run)) ? CANCELLED : this.maskedEnd(told)
      await stopped
      await performer.settled()
      // What left its step's group on purpose lives as long as the run, and no longer.
      await endLeftovers(run.record.correlationId, { isPrefix: true, isOwn: true })
      return { end, notes, failure }
    } finally {
      settings.signal?.removeEventListener('abort', stop)
      unwatch()
      await performer.settled()
      await scripts.close()
    }
  }

  private maskedEnd(end: RunEnd): RunEnd {
    const { outputs } = end
    return outputs === undefined ? end : { ...end, outputs: this.mask(outputs) as Readonly<Record<string, Json>> }
  }

  private async recorded(run: DurableRun, notes: RunNotes, areStepsTold: boolean): Promise<RecordedSteps> {
    const { ledger, plan } = this.parts
    const { isInOrder, repeatAfter } = notes
    if (run.record.resumes === 0) return new RecordedSteps()
    // Steps that run again may refer to any before them.
    const areAllRead = areStepsTold || repeatAfter !== undefined
    return recordedSteps(run, { ledger, plan, isInOrder: isInOrder === true, areAllRead })
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

  private handsOf(given: Given): { performer: Performer; conductor: Conductor } {
    const { run, notes, scripts, recorded, onStateFailure } = given
    const { plan, settings, state, masker, events, ledger } = this.parts
    const { env, grace = GRACE, onOutput, output } = settings
    const { cwd, documentDir, params } = notes
    const { id: runId, record } = run
    const scope = new Scope({ runId, workflow: plan.name, params, env })
    const { correlationId } = record
    const onLine = (step: string, attempt: number, line: string): void => events.output(step, attempt, line)
    const where = { runId, correlationId, cwd, documentDir, graceMs: parseDuration(grace), env }
    const tools = {
      // What is cut to fit a message is masked before: half a secret would not be found any more.
      runCommand: async (command: Command) => maskCommandEnd(masker, await runCommand(command)),
      failureOfCommand,
      scripts,
      isKnown: (name: string) => Object.hasOwn(scope.values, name),
    }
    const heard = { onLine, onOutput, output, onStateFailure }
    const performer = new Performer({ ...where, ...heard, plan, scope, state, masker, tools })
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
    const conductor = new Conductor({ ...known, ...maps, ...changesOf(given), isRedriveOnly })
    return { performer, conductor }
  }

  private async isMapBegun(runId: string, map: MapPlan): Promise<boolean> {
    const record = await this.parts.ledger.run(mapRunId(runId, map.id))
    return record !== undefined && mapNotesOf(record).isEnumerated
  }

  private mapConductor(map: MapPlan, given: MapGiven): MapConductor {
    const { run, scope, performer, notes, signal, onStateFailure } = given
    const { durable, ledger, plan, state, tell, settings } = this.parts
    const parts = { run, durable, ledger, plan, scope, performer, state, tell, signal, onStateFailure }
    const { maps = {} } = settings
    const { correlationId } = run.record
    const where = { runId: run.id, correlationId, state, documentDir: notes.documentDir }
    const from = { ...where, performer, scope, signal, stdin: maps.stdin }
    const sources = (of: MapPlan): InputSources => inputSources(from, of)
    const mask = (value: Json): Json => this.mask(value)
    return new MapConductor({ ...parts, mask, sources, settings: maps }, map)
  }

  private async conclude(run: DurableRun, end: RunEnd, notes: RunNotes): Promise<void> {
    const { stopReason, failedStep, outputs, outputsError } = end
    const { outputs: _outputs, outputsError: _error, ...kept } = notes
    const times = this.parts.clock.at(monotonicMs())
    const counted = { ...times, resumes: run.record.resumes }
    const detail = this.mask(
      notesAsJson({
        ...kept,
        stopReason,
        failedStep,
        ...(outputs !== undefined && { outputs }),
        ...(outputsError !== undefined && { outputsError }),
        ...(kept.ending && end.state !== 'interrupted' && { ending: endingOnly(kept.ending) }),
        times: counted,
      }),
    )
    try {
      if (end.state === 'interrupted') await run.leave(detail)
      else await run.finish(end.state, detail)
    } catch (error) {
      // Whoever cancelled it has written so.
      const isWritten = end.state === 'cancelled' && error instanceof TaskRefusedError && error.kind === 'run_lost'
      if (!isWritten) throw error
    }
    const { id } = run
    this.parts.tell({ type: 'run_finished', timeMs: Date.now(), run: id, state: end.state, stopReason, ...times })
  }

  private async tellStart(run: DurableRun, recorded: RecordedSteps): Promise<void> {
    const { ledger, plan, events, tell } = this.parts
    const { times, stepMs, untilMs } = await timesBefore(ledger, run)
    events.recall(stepMs)
    const steps = plan.phases.map(({ id, name }) => {
      return { id, name, state: recorded.get(id)?.state ?? ('pending' as const) }
    })
    const { id, record } = run
    const { resumes } = record
    const begun = resumes === 0 ? {} : await readStepCounts(ledger, id, false)
    const pending = (begun.pending ?? 0) + Math.max(0, steps.length - sumOfCounts(begun))
    const counts = { ...begun, ...(pending > 0 && { pending }) }
    const about = { run: id, name: plan.name, steps, counts, resumes }
    tell({ type: 'run_started', timeMs: Date.now(), ...about, ...times }, untilMs)
  }
}

/** Outputs of a run that has ended are kept with the run. */
function endingOnly({ state, stopReason, failedStep }: RunEnding): RunEnding {
  return { state, stopReason, failedStep }
}

/** What of the notes the conductor goes by, and what it records there. */
function changesOf({ notes, note }: Given): Pick<ConductorParts, 'repeat' | 'ending' | 'onEnding'> {
  let now = notes
  const change = (changed: RunNotes): Promise<void> => note((now = changed))
  const onGranted = (): Promise<void> => {
    const { repeatAfter: _repeatAfter, ...rest } = now
    return change(rest)
  }
  return {
    ...(notes.repeatAfter !== undefined && { repeat: { after: notes.repeatAfter, onGranted } }),
    ending: notes.ending,
    onEnding: async ({ undecided: _undecided, left: _left, ...ending }) => {
      if (now.ending === undefined) await change({ ...now, ending })
    },
  }
}
