/**
 * Conducts a map: records its items, lets them run, waits for their ends, and says what the map has become. Called again
 * after a crash it goes on with what the ledger has: items that have ended do not run again. What becomes of a single
 * item is decided by the durable driver alone. Imports the library, the plan and its own layer.
 */
import type { Json } from 'reprise/durable'
import { type ConductOptions, type DurableRun, failureOf, type ItemQueue } from 'reprise/internal'
import { inputChange, inputMark } from '../../items/input-mark.js'
import { readItems } from '../../items/read-items.js'
import type { MapPlan } from '../../plan/map-plan.js'
import { StateError } from '../../state/state-error.js'
import type { MapCounts } from '../../view/map-views.js'
import { enumerateItems } from './enumerate-items.js'
import type { MapConductorParts } from './map-conductor-parts.js'
import { isInputFault, missingPart } from './input-faults.js'
import { removeInput } from './input-sources.js'
import type { ItemInput } from './item-steps.js'
import { withJobLog } from './job-log.js'
import type { ServedLane } from './map-turns.js'
import { type Served, turnsFor } from './served-map.js'
import { openIn } from './map-counts.js'
import { endOf, type MapEnd, stateOf } from './map-end.js'
import { clearHalt, isMapHalted, limitLanes, readLanes } from './map-halt.js'
import type { MapLanes } from './map-lanes.js'
import { lanesFor } from './lanes-for.js'
import { errorTally, itemTally, mapRunId } from './map-names.js'
import { MapProgress } from './map-progress.js'
import { type MapNotes, mapNotesAsJson, mapNotesOf, NEW_MAP } from './map-record.js'
import { redriveItems } from './redrive-items.js'
import { lacksPart, openMapRun } from './open-map-run.js'
import { MapResults, type ResultFiles } from './map-results.js'
import { atWorkplaces, landItems } from './at-workplaces.js'
import { baseCommit } from './open-workplaces.js'
import { hasLost, resetItems } from './reset-items.js'
import { LaneWatch } from './lane-watch.js'
import { takeOverItems } from './take-over-items.js'
import { SHARED_PLACE, type Workplaces } from '../../workplaces/workplaces.js'

/** How often the results of ended items are written while the map runs. */
const RESULTS_EVERY_MS = 5000

export class MapConductor {
  private readonly parts: MapConductorParts
  private readonly map: MapPlan
  private readonly mapRun: string
  private hasRedriven = false

  constructor(parts: MapConductorParts, map: MapPlan) {
    this.parts = parts
    this.map = map
    this.mapRun = mapRunId(parts.run.id, map.id)
  }

  async conduct(): Promise<MapEnd> {
    try {
      return (await this.recordedEnd()) ?? (await this.conductRun())
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      // Not a failure of the map: the run stops, and goes on from here when the file can be written again.
      this.parts.onStateFailure(error)
      return endOf('interrupted', await this.progressOf().counts(), NEW_MAP, undefined)
    }
  }

  private async conductRun(): Promise<MapEnd> {
    const watch = new LaneWatch(this.parts.ledger, this.mapRun, this.map.errors, this.parts.signal)
    const progress = this.progressOf(watch)
    const child = await this.openRun(this.observing(progress))
    try {
      return await this.conductChild(child, progress, watch)
    } catch (error) {
      if (error instanceof StateError) await child.leave()
      throw error
    } finally {
      progress.end()
      child.release()
    }
  }

  /** Records attempts of items that lost processes left as interrupted: see `takeOverItems`. */
  takeOverLost(): Promise<void> {
    const { durable, ledger, settings } = this.parts
    return takeOverItems({ ledger, durable, mapRun: this.mapRun, isForced: settings.force === true }, (child) => {
      // Nothing is executed.
      const lanes = this.lanesOf(child, this.progressOf(), mapNotesOf(child.record), SHARED_PLACE)
      return [lanes.items('items'), lanes.items('sample'), this.redriveLane(lanes), lanes.onError]
    })
  }

  /** The map cannot be begun: recorded as its failure, which a resume tries again. */
  async fail(error: Error): Promise<MapEnd> {
    const child = await this.openRun({})
    try {
      return await this.failed(child, mapNotesOf(child.record), error)
    } finally {
      child.release()
    }
  }

  /** A map that has ended stays so; one that was stopped goes on once nothing stops it any more. */
  private async recordedEnd(): Promise<MapEnd | undefined> {
    const { ledger, settings } = this.parts
    const record = await ledger.run(this.mapRun)
    if (settings.redrive?.letters(ledger, this.mapRun) !== undefined) return undefined
    if (settings.redrive?.isOnly === true && record === undefined) return this.rested(NEW_MAP)
    if (record === undefined || (settings.resetRetries === true && (await hasLost(ledger, record.id)))) return undefined
    const notes = mapNotesOf(record)
    const isEnded = record.status === 'succeeded' || record.status === 'completed_with_failures'
    const isHalted = record.status === 'failed' && notes.halted !== null
    if (!isEnded && !(isHalted && (await isMapHalted(ledger, record, this.map, settings.maxFailures))))
      return settings.redrive?.isOnly === true ? this.rested(notes) : undefined
    const counts = notes.counts ?? (await this.progressOf().counts())
    const state = isEnded ? (record.status as MapEnd['state']) : 'failed'
    return endOf(state, counts, notes, await this.resultsOf().completed())
  }

  /** Nothing of it goes on now: only other items are redriven. */
  private async rested(notes: MapNotes): Promise<MapEnd> {
    return endOf('interrupted', await this.progressOf().counts(), notes, undefined)
  }

  private async conductChild(child: DurableRun, progress: MapProgress, watch: LaneWatch): Promise<MapEnd> {
    const notes = mapNotesOf(child.record)
    if (notes.isEnumerated) {
      await this.noteChange(notes)
      return this.conductItems(child, progress, watch, notes)
    }
    const enumerated = await this.enumerate(child, this.lanesOf(child, progress, notes, SHARED_PLACE), notes)
    return 'state' in enumerated ? enumerated : this.conductItems(child, progress, watch, enumerated)
  }

  /** All items are recorded. */
  private async conductItems(
    child: DurableRun,
    progress: MapProgress,
    watch: LaneWatch,
    notes: MapNotes,
  ): Promise<MapEnd> {
    const { state, run, cwd } = this.parts
    const { map } = this
    removeInput(state, run.id, map.id)
    const { correlationId } = child.record
    const maxParallel = this.maxParallel(notes)
    const where = { map, runId: run.id, correlationId, state, cwd, base: notes.base, maxParallel }
    const conduct = (places: Workplaces): Promise<MapEnd> => this.conductAt(places, child, { progress, watch, notes })
    return atWorkplaces(where, conduct, (error) => this.failed(child, notes, error))
  }

  private async conductAt(
    places: Workplaces,
    child: DurableRun,
    given: { readonly progress: MapProgress; readonly watch: LaneWatch; readonly notes: MapNotes },
  ): Promise<MapEnd> {
    const { tell } = this.parts
    const { progress, watch } = given
    let { notes } = given
    const lanes = this.lanesOf(child, progress, notes, places)
    notes = await this.takeSettings(child, lanes, notes)
    tell({ ...this.base(), type: 'map_started', counts: await progress.counts() })
    progress.begin()
    const results = this.resultsOf()
    const timer = setInterval(() => void results.advance().catch(this.onResultsFailure), RESULTS_EVERY_MS)
    timer.unref()
    const turns = turnsFor(
      { ...this.parts, child, lanes, slots: this.maxParallel(notes), redrive: () => this.redriveLane(lanes) },
      (message) => this.note(message),
    )
    try {
      await this.serve({ child, lanes, watch, turns }, notes)
      // Of a map that was stopped at once, agents may still be ending their items.
      await turns.untilAtRest()
    } finally {
      clearInterval(timer)
      await results.end()
    }
    return (await this.landed(child, places, notes)) ?? this.conclude(child, progress, results, notes)
  }

  /** What was done of the items goes where the run goes on, once all of them have ended; a failure of the map if it cannot. */
  private async landed(child: DurableRun, places: Workplaces, notes: MapNotes): Promise<MapEnd | undefined> {
    const { ledger, signal } = this.parts
    const counts = await this.progressOf().counts()
    const fault = await landItems(places, { ledger, mapRun: this.mapRun, counts, signal })
    return fault === undefined ? undefined : this.failed(child, notes, fault)
  }

  /** What was asked for with this start, beside the document. */
  private async takeSettings(child: DurableRun, lanes: MapLanes, notes: MapNotes): Promise<MapNotes> {
    const { ledger, settings } = this.parts
    const { maxFailures, maxParallel, resetRetries } = settings
    const limits = {
      ...(maxFailures !== undefined && { maxFailures }),
      ...(maxParallel !== undefined && { maxParallel }),
    }
    if (resetRetries === true) await resetItems(ledger, this.mapRun, lanes.items('items'))
    await limitLanes(ledger, this.mapRun, limits)
    return Object.keys(limits).length === 0 ? notes : this.write(child, { ...notes, ...limits })
  }

  /** Lets the items run: first those that are redriven, then the others, unless nothing else is wanted. */
  private async serve(served: Served, notes: MapNotes): Promise<void> {
    const { child, watch, turns } = served
    const { onError } = served.lanes
    await turns.closeAll()
    await onError?.open(this.parts.signal)
    try {
      await this.redrive(served)
      if (!(await this.isResting(child, notes))) await this.serveItems(served, notes)
      if (onError !== undefined) await watch.untilEmpty(errorTally(this.mapRun))
    } finally {
      await onError?.close()
    }
  }

  /** First the part that was asked for, then the others, unless only the part is wanted. */
  private async serveItems({ lanes, watch, turns }: Served, notes: MapNotes): Promise<void> {
    const { ledger, settings } = this.parts
    await clearHalt(ledger, this.mapRun, { ...this.map.errors, maxFailures: this.maxFailures(notes) })
    const serve = (lane: 'items' | 'sample'): Promise<void> =>
      this.serveLane(turns.of(lanes.items(lane)), watch, itemTally(this.mapRun, lane))
    if (notes.isPartial) await serve('sample')
    if (settings.part === undefined) await serve('items')
  }

  private async redrive({ lanes, watch, turns }: Served): Promise<void> {
    const { ledger, durable, settings, mask, signal } = this.parts
    const queue = turns.of(this.redriveLane(lanes))
    const note = (message: string): void => this.note(message)
    const parts = { ledger, durable, mapRun: this.mapRun, queue, watch, note, mask, signal }
    this.hasRedriven = await redriveItems(parts, settings.redrive)
  }

  private note(message: string): void {
    this.parts.tell({ ...this.base(), type: 'map_note', message })
  }

  private redriveLane(lanes: MapLanes): ItemQueue<ItemInput> {
    const { most, rate } = this.parts.settings.redrive ?? {}
    return lanes.redrive(most, rate)
  }

  /** Whether the items that were not redriven have to wait: nothing else is wanted, or the map is stopped as before. */
  private async isResting(child: DurableRun, { halted }: MapNotes): Promise<boolean> {
    const { ledger, settings } = this.parts
    if (settings.redrive?.isOnly === true) return true
    return halted !== null && (await isMapHalted(ledger, child.record, this.map, settings.maxFailures))
  }

  private async serveLane(lane: ServedLane, watch: LaneWatch, tally: string): Promise<void> {
    try {
      await lane.open(this.parts.signal)
      await watch.untilOver(tally, lane)
    } finally {
      await lane.close()
    }
  }

  private async conclude(
    child: DurableRun,
    progress: MapProgress,
    results: MapResults,
    notes: MapNotes,
  ): Promise<MapEnd> {
    const { ledger, signal } = this.parts
    const { items, sample } = await readLanes(ledger, this.mapRun)
    const halted = (await this.isMended(child)) ? null : (items.halt ?? sample.halt ?? null)
    const counts = await progress.counts()
    const left = counts.pending + counts.retrying + counts.running
    // A stop of the run leaves what is not done yet to the next process, `on_item_error` too.
    const isOver = left === 0 && (await openIn(ledger, errorTally(this.mapRun))) === 0
    const files = isOver || (halted !== null && !signal.aborted) ? await results.complete() : undefined
    if (files === undefined) {
      // Nothing stops it any more; what does stays with it.
      const kept = halted === null ? { ...notes, halted } : notes
      await child.leave(this.detailOf(kept))
      return this.told('interrupted', counts, { ...kept, counts }, signal.aborted ? 0 : left, undefined)
    }
    // What a killed process left: no batch runs any more.
    if (left === 0) this.parts.state.removeBatches(this.parts.run.id, this.map.id)
    const ended: MapNotes = { ...notes, halted, counts, recovered: files.recovered, resultsFile: files.file }
    const state = halted === null ? stateOf(counts, this.map) : 'failed'
    await child.finish(state, this.detailOf(ended))
    return this.told(state, counts, ended, 0, files)
  }

  /** Whether nothing would stop a map any more that was stopped: redriven items have succeeded. */
  private async isMended(child: DurableRun): Promise<boolean> {
    const { ledger, settings, signal } = this.parts
    if (!this.hasRedriven || signal.aborted || mapNotesOf(child.record).halted === null) return false
    if (await isMapHalted(ledger, child.record, this.map, settings.maxFailures)) return false
    await clearHalt(ledger, this.mapRun, {
      ...this.map.errors,
      maxFailures: this.maxFailures(mapNotesOf(child.record)),
    })
    return true
  }

  private told(
    state: MapEnd['state'],
    counts: MapCounts,
    notes: MapNotes,
    left: number,
    files: ResultFiles | undefined,
  ): MapEnd {
    const { halted, failure, recovered, resultsFile } = notes
    this.parts.tell({ ...this.base(), type: 'map_finished', state, counts, recovered, halted, failure, resultsFile })
    return { ...endOf(state, counts, notes, files), left }
  }

  // ── the run of the map, and its items ──────────────────────────────────────────────────────────

  private openRun(conductWith: ConductOptions): Promise<DurableRun> {
    return openMapRun({ ...this.parts, map: this.map, detailOf: (notes) => this.detailOf(notes) }, conductWith)
  }

  private async enumerate(child: DurableRun, lanes: MapLanes, notes: MapNotes): Promise<MapNotes | MapEnd> {
    const { sources, settings, mask, signal } = this.parts
    const given = sources(this.map)
    try {
      if (lacksPart(notes, settings)) throw missingPart(this.map)
      const mark = await inputMark(this.map.input, given)
      const part = settings.part?.choose(given.values)
      const { total } = await enumerateItems({
        items: readItems(this.map, given),
        rest: lanes.items('items'),
        chosen: part && { queue: lanes.items('sample'), part },
        mask,
        signal,
      })
      const base = await baseCommit(this.map, this.parts.cwd)
      return await this.write(child, { ...notes, isEnumerated: true, total, inputMark: mark, base })
    } catch (error) {
      const counts = await this.progressOf().counts()
      if (signal.aborted) {
        await child.leave(this.detailOf(notes))
        return this.told('interrupted', counts, notes, 0, undefined)
      }
      if (!isInputFault(error)) throw error
      return this.failed(child, notes, error)
    }
  }

  private async failed(child: DurableRun, notes: MapNotes, error: unknown): Promise<MapEnd> {
    const ended: MapNotes = { ...notes, failure: failureOf(this.parts.performer.masked(error)) }
    await child.finish('failed', this.detailOf(ended))
    return this.told('failed', await this.progressOf().counts(), ended, 0, undefined)
  }

  /** Items are read once: an input that has changed since is told, and not read again. */
  private async noteChange({ inputMark: mark }: MapNotes): Promise<void> {
    if (mark === null) return
    const change = await inputChange(mark, this.map.input, this.parts.sources(this.map))
    if (change === null) return
    this.note(`The input has changed since its items were recorded: ${change}. The recorded items are processed.`)
  }

  private async write(child: DurableRun, notes: MapNotes): Promise<MapNotes> {
    await child.change({ detail: this.detailOf(notes) })
    return notes
  }

  /** Paths and reasons may hold what is secret. */
  private detailOf(notes: MapNotes): Json {
    return this.parts.mask(mapNotesAsJson(notes))
  }

  // ── its parts ──────────────────────────────────────────────────────────────────────────────────

  private lanesOf(child: DurableRun, progress: MapProgress, notes: MapNotes, places: Workplaces): MapLanes {
    const { plan, run, performer, scope, state, mask, onStateFailure } = this.parts
    const { map } = this
    return lanesFor({
      ...{ child, plan, map, runId: run.id, scope, performer, state, mask, onStateFailure, places },
      maxFailures: this.maxFailures(notes),
      maxParallel: this.maxParallel(notes),
      onBegin: (item, key) => progress.began(item, key),
      note: (message) => this.note(message),
    })
  }

  /** The limit of failed items that holds now. */
  private maxFailures(notes: MapNotes): number | null {
    return this.parts.settings.maxFailures ?? notes.maxFailures ?? this.map.errors.maxFailures
  }

  /** Items or batches at a time, as this start says. */
  private maxParallel(notes: MapNotes): number {
    return this.parts.settings.maxParallel ?? notes.maxParallel ?? this.map.maxParallel
  }

  private progressOf(watch?: LaneWatch): MapProgress {
    const { ledger, run, tell } = this.parts
    const { map, mapRun } = this
    const onItemRested = (isFailed: boolean): void => watch?.itemRested(isFailed)
    return new MapProgress({ ledger, run: run.id, mapRun, map, tell, now: Date.now, onItemRested })
  }

  private resultsOf(): MapResults {
    const { ledger, state, run, signal } = this.parts
    const directory = state.mapDirectory(run.id, this.map.id)
    return new MapResults({ ledger, mapRun: this.mapRun, directory, errors: this.map.errors, signal })
  }

  /**
   * The observers of the map instead of the run's: events of other runs and tasks reach those already. Items take the policy
   * of the document that the run goes on with: whether that may have changed was asked before, and a process that was
   * killed after the answer may have left items with the policy before it.
   */
  private observing(progress: MapProgress): ConductOptions {
    const { settings, onStateFailure } = this.parts
    const onFailure = (error: Error): void => onStateFailure(error as StateError)
    const observer =
      settings.jobLog === undefined ? progress : withJobLog(progress, settings.jobLog, this.mapRun, onFailure)
    return { policyChange: 'accept', observer }
  }

  private base(): { timeMs: number; run: string; step: string } {
    return { timeMs: Date.now(), run: this.parts.run.id, step: this.map.id }
  }

  private readonly onResultsFailure = (error: unknown): void => {
    // A ledger that fails is told to whoever writes next.
    if (error instanceof StateError) this.parts.onStateFailure(error)
  }
}
