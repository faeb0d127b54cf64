/**
 * Where a run's files are: `runs/RUN/STEP/G.A.E.log` for the output of an attempt (generation, attempt, execution), and
 * `runs/RUN/STEP@G.A.E.group` while its processes run: a step that says nothing needs no directory.
 *
 * Invariants: no path leaves the directory, since ids are names and nothing else. Directories are 0700, files 0600, all
 * of them our own; links, pipes, devices and other people's files in their place are refused. Nothing is made before it
 * is needed. Git ignores all of it. Imports the parts of this directory.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { AttemptLog, SYSTEM_FILES } from './attempt-log.js'
import { type AttemptName, compareAttempts, expectId, isId, parseLogName, stemOf } from './names.js'
import { expectOwnDirectory, expectOwnFile, makeOwnDirectory, openOwnFile } from './own-files.js'
import { stateErrorOf } from './state-error.js'
import { STATE_NAME } from './state-path.js'

export interface LogEntry extends AttemptName {
  readonly run: string
  readonly step: string
  readonly path: string
  readonly bytes: number
}

const RUNS = 'runs'
/** Stands in no id: what has one in its name is no step's directory, and belongs to one step. */
const OF_STEP = '@'
const GROUP = /@[\d.]+\.group$/

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
  logFile(run: string, step: string, attempt: AttemptName): string {
    return path.join(this.stepPath(run, step), `${stemOf(attempt)}.log`)
  }

  /** To write to; the file is made at the first byte. */
  openLog(run: string, step: string, attempt: AttemptName): AttemptLog {
    const file = this.logFile(run, step, attempt)
    return new AttemptLog(file, {
      ...SYSTEM_FILES,
      open: () => this.inside(path.dirname(file), () => openOwnFile(file)),
    })
  }

  /** Where the group of the attempt is noted; its directory is there. */
  groupFile(run: string, step: string, attempt: AttemptName): string {
    const directory = this.runPath(run)
    this.inside(directory, () => lstatSync(directory))
    return path.join(directory, `${expectId('step', step)}${OF_STEP}${stemOf(attempt)}.group`)
  }

  /** Of a run, or of one of its steps: steps by name, attempts as they were made. */
  logsOf(run: string, step?: string): LogEntry[] {
    return this.stepsOf(run, step).flatMap((name) => this.logsIn(run, name))
  }

  /** Notes of groups that were running when somebody last wrote here. */
  groupFilesOf(run: string, step?: string): string[] {
    const start = step === undefined ? '' : `${expectId('step', step)}${OF_STEP}`
    const directory = this.runPath(run)
    const files = this.list(directory).filter((file) => file.startsWith(start) && GROUP.test(file))
    return files.map((file) => path.join(directory, file))
  }

  /** Whether any run has files here. */
  get hasRuns(): boolean {
    return this.list(path.join(this.path, RUNS)).some(isId)
  }

  /** All of a run's files. Links in it are removed, not followed. */
  removeRun(run: string): void {
    const directory = this.runPath(run)
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

  /** Those that have a directory: they have said something. */
  stepsOf(run: string, step?: string): string[] {
    if (step !== undefined) return [expectId('step', step)]
    // What a file manager leaves is no step.
    return this.list(this.runPath(run)).filter(isId)
  }

  private logsIn(run: string, step: string): LogEntry[] {
    const directory = this.stepPath(run, step)
    return this.list(directory)
      .flatMap((name) => {
        const attempt = parseLogName(name)
        const file = path.join(directory, name)
        return attempt === null ? [] : [{ run, step, ...attempt, path: file, bytes: expectOwnFile(file).size }]
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
