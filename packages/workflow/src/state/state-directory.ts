/**
 * Where a run's files are: `runs/RUN/STEP/G.A.E.log` for the output of an attempt (generation, attempt, execution), and
 * `runs/RUN/STEP@G.A.E.group` while its processes run: a step that says nothing needs no directory. An item of a map has
 * one log for all steps of an attempt, `runs/RUN/MAP/ab/ITEM@G.A.E.log`, in one of 256 directories, since items are many.
 *
 * Invariants: no path leaves the directory, since ids are names and nothing else. Directories are 0700, files 0600, all
 * of them our own; links, pipes, devices and other people's files in their place are refused. Nothing is made before it
 * is needed. Git ignores all of it. Imports the parts of this directory.
 */
import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { AttemptLog, SYSTEM_FILES } from './attempt-log.js'
import { type AttemptName, compareAttempts, expectId, isId, parseLogName, stemOf } from './names.js'
import { expectOwnDirectory, expectOwnFile, makeOwnDirectory, openOwnFile } from './own-files.js'
import { stateErrorOf } from './state-error.js'
import { STATE_NAME } from './state-path.js'
import type { ItemPlace, StepPlace } from './step-place.js'

export interface LogEntry extends AttemptName {
  readonly run: string
  readonly step: string
  readonly path: string
  readonly bytes: number
}

/** What the attempt of a batch reads and writes. */
export interface BatchFiles {
  readonly items: string
  readonly results: string
}

const RUNS = 'runs'
/** No shard of logs has this name. */
const BATCHES = 'batches'
/** Stands in no id: a name with it is no directory of a step, and belongs to one step or item. */
const BELONGS_TO = '@'
const GROUP = /@[\d.]+\.group$/
const ITEM_LOG = /^([^@]+)@([\d.]+\.log)$/
const SHARD = /^[0-9a-f]{2}$/

export class StateDirectory {
  readonly path: string
  /** Made and looked at by this process. */
  private readonly known = new Set<string>()

  private constructor(directory: string) {
    this.path = directory
  }

  /** To look into: makes nothing, and what is not there is empty. */
  static at(directory: string): StateDirectory {
    return new StateDirectory(path.resolve(directory))
  }

  /** Makes it if it is not there; what leads to it as well. */
  static open(directory: string): StateDirectory {
    const absolute = path.resolve(directory)
    if (isWithinAnother(absolute)) {
      StateDirectory.open(path.dirname(absolute))
      makeOwnDirectory(absolute)
      return new StateDirectory(absolute)
    }
    try {
      mkdirSync(path.dirname(absolute), { recursive: true })
    } catch (error) {
      throw stateErrorOf(path.dirname(absolute), error)
    }
    const isNew = makeOwnDirectory(absolute)
    if (isNew || path.basename(absolute) === STATE_NAME) ignoreAll(absolute, isNew)
    return new StateDirectory(absolute)
  }

  /** Where it is, or would be. */
  logFile({ run, item, step }: StepPlace, attempt: AttemptName): string {
    const name = `${stemOf(attempt)}.log`
    if (item === undefined) return path.join(this.stepPath(run, step), name)
    return path.join(this.shardPath(run, item), `${expectId('item', item.id)}${BELONGS_TO}${name}`)
  }

  /** To write to; the file is made at the first byte. */
  openLog(place: StepPlace, attempt: AttemptName): AttemptLog {
    const file = this.logFile(place, attempt)
    return new AttemptLog(file, {
      ...SYSTEM_FILES,
      open: () => this.inside(path.dirname(file), () => openOwnFile(file)),
    })
  }

  /** Where the group of the attempt is noted; its directory is there. */
  groupFile(place: StepPlace, attempt: AttemptName): string {
    const { directory, start } = this.groupsAt(place)
    this.inside(directory, () => lstatSync(directory))
    return path.join(directory, `${start}${stemOf(attempt)}.group`)
  }

  /** Where the files of a map are; it is there. */
  mapDirectory(run: string, map: string): string {
    const directory = this.stepPath(run, map)
    return this.inside(directory, () => (lstatSync(directory), directory))
  }

  /** Where the items of a batch are written, and where its steps write what became of them; their directory is there. */
  batchFiles({ run, item }: StepPlace, attempt: AttemptName): BatchFiles {
    const directory = path.join(this.stepPath(run, item?.map ?? ''), BATCHES)
    this.inside(directory, () => lstatSync(directory))
    const stem = path.join(directory, `${expectId('item', item?.id ?? '')}${BELONGS_TO}${stemOf(attempt)}`)
    return { items: `${stem}.items.ndjson`, results: `${stem}.results.ndjson` }
  }

  /** Removes what a killed process left of batches. */
  removeBatches(run: string, map: string): void {
    this.remove(path.join(this.stepPath(run, map), BATCHES))
  }

  /** The log of one attempt, if there is one, is that of another attempt as well. */
  shareLog(from: StepPlace, attempt: AttemptName, to: StepPlace, other: AttemptName): void {
    const [log, copy] = [this.logFile(from, attempt), this.logFile(to, other)]
    if (!existsSync(log)) return
    try {
      this.inside(path.dirname(copy), () => linkSync(log, copy))
    } catch (error) {
      const { errno } = stateErrorOf(copy, error)
      if (errno !== 'EEXIST') throw stateErrorOf(copy, error)
    }
  }

  /** Removes the log of an item's attempt, if there is one. */
  removeLog(place: StepPlace, attempt: AttemptName): void {
    const file = this.logFile(place, attempt)
    try {
      rmSync(file, { force: true })
    } catch (error) {
      throw stateErrorOf(file, error)
    }
  }

  /** Of a run, or of one of its steps: steps by name, attempts as they were made. */
  logsOf(run: string, step?: string): LogEntry[] {
    return this.stepsOf(run, step).flatMap((name) => this.logsIn(run, name))
  }

  /** Of all attempts of an item, in the order they were made. */
  logsOfItem(run: string, item: ItemPlace): LogEntry[] {
    const directory = this.shardPath(run, item)
    return this.list(directory)
      .flatMap((name) => {
        const [, id, log = ''] = ITEM_LOG.exec(name) ?? []
        const attempt = id === item.id ? parseLogName(log) : null
        return attempt === null ? [] : [entryOf(run, item.map, attempt, path.join(directory, name))]
      })
      .toSorted(compareAttempts)
  }

  /** Notes of process groups that were not seen to end: of the run and its items, or of one place in it. */
  groupFilesOf(run: string, place?: StepPlace): string[] {
    if (place !== undefined) {
      const { directory, start } = this.groupsAt(place)
      return this.groupsIn(directory, start)
    }
    const shards = this.stepsOf(run).flatMap((step) => this.shardsIn(this.stepPath(run, step)))
    return [this.runPath(run), ...shards].flatMap((directory) => this.groupsIn(directory, ''))
  }

  /** Whether any run has files here. */
  get hasRuns(): boolean {
    return this.list(path.join(this.path, RUNS)).some(isId)
  }

  /** Where the files of a run are, or would be. */
  runDirectory(run: string): string {
    return this.runPath(run)
  }

  /** All of a run's files. Links in it are removed, not followed. */
  removeRun(run: string): void {
    this.remove(this.runPath(run))
  }

  /** The same for the files of a step or map. */
  removeStep(run: string, step: string): void {
    this.remove(this.stepPath(run, step))
  }

  private remove(directory: string): void {
    if (!this.isThere(directory)) return
    this.known.clear()
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch (error) {
      throw stateErrorOf(directory, error)
    }
  }

  private runPath(run: string): string {
    return path.join(this.path, RUNS, expectId('run', run))
  }

  private stepPath(run: string, step: string): string {
    return path.join(this.runPath(run), expectId('step', step))
  }

  /** Runs whose steps have said something. */
  runs(): string[] {
    return this.list(path.join(this.path, RUNS)).filter(isId)
  }

  /** Those that have a directory: they have said something. */
  stepsOf(run: string, step?: string): string[] {
    if (step !== undefined) return [expectId('step', step)]
    // What a file manager leaves is no step.
    return this.list(this.runPath(run)).filter(isId)
  }

  private shardPath(run: string, { map, id }: ItemPlace): string {
    return path.join(this.stepPath(run, map), shardOf(id))
  }

  private shardsIn(directory: string): string[] {
    const names = this.list(directory).filter((name) => SHARD.test(name))
    return names.map((name) => path.join(directory, name))
  }

  /** Where the process groups of a place are noted, and how the names of these notes begin. */
  private groupsAt({ run, item, step }: StepPlace): { readonly directory: string; readonly start: string } {
    if (item === undefined) return { directory: this.runPath(run), start: `${expectId('step', step)}${BELONGS_TO}` }
    return { directory: this.shardPath(run, item), start: `${expectId('item', item.id)}${BELONGS_TO}` }
  }

  private groupsIn(directory: string, start: string): string[] {
    const files = this.list(directory).filter((file) => file.startsWith(start) && GROUP.test(file))
    return files.map((file) => path.join(directory, file))
  }

  private logsIn(run: string, step: string): LogEntry[] {
    const directory = this.stepPath(run, step)
    return this.list(directory)
      .flatMap((name) => {
        const attempt = parseLogName(name)
        return attempt === null ? [] : [entryOf(run, step, attempt, path.join(directory, name))]
      })
      .toSorted(compareAttempts)
  }

  /** Does something in a directory, which is there by then. Should somebody have removed it, it is made again. */
  private inside<T>(directory: string, act: () => T): T {
    this.make(directory)
    try {
      return act()
    } catch (error) {
      if (stateErrorOf(directory, error).errno !== 'ENOENT') throw error
      this.known.clear()
      this.make(directory)
      return act()
    }
  }

  private make(directory: string): void {
    if (this.known.has(directory)) return
    for (const part of this.partsOf(directory)) {
      if (this.known.has(part)) continue
      makeOwnDirectory(part)
      this.known.add(part)
    }
  }

  /** In order; none if it is not there. */
  private list(directory: string): string[] {
    if (!this.isThere(directory)) return []
    try {
      return readdirSync(directory).toSorted()
    } catch (error) {
      throw stateErrorOf(directory, error)
    }
  }

  /** And if it is, it is ours, and no link led to it. */
  private isThere(directory: string): boolean {
    return this.partsOf(directory).every((part) => existsSync(part) && expectOwnDirectory(part))
  }

  /** From here down to it. */
  private partsOf(directory: string): string[] {
    const names = path.relative(this.path, directory).split(path.sep)
    const parts = [this.path, ...names.map((_, index) => path.join(this.path, ...names.slice(0, index + 1)))]
    return isWithinAnother(this.path) ? [path.dirname(this.path), ...parts] : parts
  }
}

function entryOf(run: string, step: string, attempt: AttemptName, file: string): LogEntry {
  return { run, step, ...attempt, path: file, bytes: expectOwnFile(file).size }
}

/** One of 256 directories for the files of an item: FNV-1a over its id, so that positions in a row spread evenly. */
function shardOf(id: string): string {
  let hash = 0x811c9dc5
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193)
  return ((hash >>> 0) % 256).toString(16).padStart(2, '0')
}

/** Such as that of one ledger of several: the other is looked at as well. */
function isWithinAnother(directory: string): boolean {
  return path.basename(path.dirname(directory)) === STATE_NAME
}

/** A directory of that name may have been made by the ledger; then it is no error if it cannot be done. */
function ignoreAll(directory: string, isNew: boolean): void {
  const file = path.join(directory, '.gitignore')
  try {
    writeFileSync(file, '*\n', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (isNew && (error as NodeJS.ErrnoException).code !== 'EEXIST') throw stateErrorOf(file, error)
  }
}
