/**
 * The results of a map as files: `results.ndjson` with every item in order, `succeeded.ndjson`, `failed.ndjson` and
 * `pending.ndjson` with the items in these states, and `manifest.json` with counts and sizes. Imports Node, the library,
 * the state directory and the names.
 *
 * Invariants: items are read page by page, and a page is bounded in bytes. While the map runs, `results.ndjson` grows by the
 * items that have ended and have none before them that has not; at its end all files are written anew and put in place
 * whole, the manifest last. Nothing is appended while that happens, nor by a process that has lost the map: it holds the
 * file that it began, which is another one by then.
 */
import { createHash, type Hash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Json, Ledger, TaskRecord, TaskResult } from 'reprise/durable'
import { PAGE, pagesOf, scopeOf } from '../../view/run-pages.js'
import { stateErrorOf } from '../../state/state-error.js'
import type { MapErrorPolicy } from '../../plan/map-plan.js'
import { type ItemInput, positionOf } from './item-steps.js'
import type { ItemState } from '../../view/map-views.js'
import { stateOfItem } from './map-counts.js'

/** One line of a results file. */
interface ItemLine {
  readonly index: number
  readonly key: string
  readonly state: ItemState
  /** What the item gave; null unless it succeeded. */
  readonly result: Json
  /** Attempts that were begun, in the last generation. */
  readonly attempts: number
  /** What its last attempt failed with; absent for an item that succeeded. */
  readonly error?: string
}

/** What the files hold. */
export interface ResultFiles {
  readonly file: string
  readonly recovered: number
  /** What succeeded items gave, in order, if that is at most 1 MiB as JSON; else undefined. */
  readonly results: readonly Json[] | undefined
}

const KINDS = ['results', 'succeeded', 'failed', 'pending'] as const
type Kind = (typeof KINDS)[number]

/** As large a value as a run keeps of a captured output. */
const MAX_RESULTS_BYTES = 1024 * 1024
/** Bytes that are gathered before they are written. */
const BATCH_BYTES = 256 * 1024
/** Items of the first page: nothing is known of their size yet. */
const FIRST_PAGE = 100
/** Inputs and results of a page, about: an item may be as large as 1 MiB, and so may be its result. */
const PAGE_BYTES = 16 * 1024 * 1024

export interface ResultsParts {
  readonly ledger: Ledger
  /** The id of the map's run. */
  readonly mapRun: string
  /** Where the files are; it is there. */
  readonly directory: string
  readonly errors: Pick<MapErrorPolicy, 'onItemFailure'>
  /** Aborted when the run is stopped: the files can be written later. */
  readonly signal: AbortSignal
}

export class MapResults {
  private readonly parts: ResultsParts
  private appending: Promise<void> | undefined = undefined
  /** The last item that was written while the map ran. */
  private last: TaskRecord | undefined = undefined
  /** Of the file that grows. */
  private descriptor: number | undefined = undefined

  constructor(parts: ResultsParts) {
    this.parts = parts
  }

  get file(): string {
    return path.join(this.parts.directory, 'results.ndjson')
  }

  /** Writes the items that have ended since the last time, up to the first one that has not. */
  advance(): Promise<void> {
    this.appending ??= this.append().finally(() => (this.appending = undefined))
    return this.appending
  }

  /** Resolves when nothing is appended any more. */
  async end(): Promise<void> {
    // Whoever called `advance` hears of its error.
    await this.appending?.catch(() => undefined)
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
  }

  private async append(): Promise<void> {
    const { errors, signal } = this.parts
    const descriptor = (this.descriptor ??= this.attempt(() => {
      rmSync(this.file, { force: true })
      return openSync(this.file, 'ax', 0o600)
    }))
    for await (const page of this.pages(this.last)) {
      const ended = page.slice(0, firstOpen(page))
      const text = ended.map((task) => `${JSON.stringify(lineOf(task, errors))}\n`).join('')
      if (text !== '') this.attempt(() => writeFileSync(descriptor, text))
      this.last = ended.at(-1) ?? this.last
      if (ended.length < page.length || signal.aborted) return
    }
  }

  /** Writes all files, and puts them in place; undefined if the run was stopped meanwhile. */
  async complete(): Promise<ResultFiles | undefined> {
    const { mapRun, errors, directory, signal } = this.parts
    await this.end()
    const values = new ResultValues()
    let recovered = 0
    const writers = new Map<Kind | 'manifest', FileWriter>()
    try {
      for (const kind of KINDS) writers.set(kind, new FileWriter(path.join(directory, `${kind}.ndjson`)))
      for await (const page of this.pages()) {
        for (const task of page) {
          const line = lineOf(task, errors)
          const text = `${JSON.stringify(line)}\n`
          writers.get('results')?.write(text)
          writers.get(kindOf(line.state))?.write(text)
          if (line.state !== 'succeeded') continue
          if (line.attempts > 1) recovered++
          values.add(line.result)
        }
        if (!signal.aborted) continue
        for (const writer of writers.values()) writer.abandon()
        return undefined
      }
      const files = [...writers].map(([kind, writer]) => ({ kind, ...writer.finish() }))
      const manifest = new FileWriter(this.manifest)
      writers.set('manifest', manifest)
      manifest.write(`${JSON.stringify({ map: mapRun, files }, undefined, 2)}\n`)
      manifest.finish()
    } catch (error) {
      for (const writer of writers.values()) writer.abandon()
      throw error
    }
    return { file: this.file, recovered, results: values.list }
  }

  /** Of a map that has ended: its files are written again only where they are missing, as on another machine. */
  async completed(): Promise<Pick<ResultFiles, 'file' | 'results'>> {
    if (!existsSync(this.manifest)) return (await this.complete()) ?? { file: this.file, results: undefined }
    return { file: this.file, results: await this.values() }
  }

  /** What succeeded items gave, in order, if that is at most 1 MiB as JSON; else undefined. Writes nothing. */
  async values(): Promise<readonly Json[] | undefined> {
    const { ledger, mapRun } = this.parts
    const values = new ResultValues()
    const pages = pagesOf((after: TaskResult | undefined) =>
      ledger.results(mapRun, { limit: PAGE, ...(after && { after: after.id }) }),
    )
    for await (const page of pages) {
      for (const { result } of page) values.add(result)
      if (values.list === undefined) break
    }
    return values.list
  }

  private get manifest(): string {
    return path.join(this.parts.directory, 'manifest.json')
  }

  /** Items in order, after a given one. */
  private async *pages(from?: TaskRecord): AsyncGenerator<readonly TaskRecord[]> {
    const { ledger, mapRun } = this.parts
    let [after, limit] = [from, FIRST_PAGE]
    for (;;) {
      const page = await ledger.list({ ...scopeOf(mapRun), limit, ...(after && { after }) })
      yield page
      if (page.length < limit) return
      after = page.at(-1)
      const bytes = page.reduce((sum, { input, result }) => sum + JSON.stringify([input, result]).length, 0)
      limit = Math.max(1, Math.min(PAGE, Math.floor((PAGE_BYTES * page.length) / bytes)))
    }
  }

  private attempt<T>(act: () => T): T {
    try {
      return act()
    } catch (error) {
      throw stateErrorOf(this.file, error)
    }
  }
}

/** What succeeded items gave, as long as it is small. */
class ResultValues {
  list: Json[] | undefined = []
  private bytes = 0

  add(value: Json): void {
    if (this.list === undefined) return
    this.bytes += Buffer.byteLength(JSON.stringify(value)) + 1
    if (this.bytes > MAX_RESULTS_BYTES) this.list = undefined
    else this.list.push(value)
  }
}

function firstOpen(page: readonly TaskRecord[]): number {
  const index = page.findIndex(({ status }) => status === 'waiting' || status === 'running' || status === 'parked')
  return index === -1 ? page.length : index
}

function lineOf(task: TaskRecord, errors: Pick<MapErrorPolicy, 'onItemFailure'>): ItemLine {
  const { id, input, result, progress } = task
  const state = stateOfItem(task, errors)
  const error = state === 'succeeded' ? undefined : progress.lastFailure?.message
  return {
    index: positionOf(id),
    key: (input as unknown as ItemInput).key,
    state,
    result: result ?? null,
    attempts: progress.retry?.launched ?? 0,
    ...(error !== undefined && { error }),
  }
}

function kindOf(state: ItemState): Kind {
  if (state === 'succeeded') return 'succeeded'
  return state === 'pending' || state === 'running' || state === 'retrying' ? 'pending' : 'failed'
}

/** A file that is written beside its place and put there whole. */
class FileWriter {
  private readonly file: string
  private readonly descriptor: number
  private readonly hash: Hash = createHash('sha256')
  private lines = 0
  private bytes = 0
  private gathered = ''
  private isOpen = true

  constructor(file: string) {
    this.file = file
    this.descriptor = this.attempt(() => openSync(this.besides, 'w', 0o600))
  }

  write(text: string): void {
    this.gathered += text
    this.lines++
    if (this.gathered.length >= BATCH_BYTES) this.flush()
  }

  finish(): { readonly file: string; readonly lines: number; readonly bytes: number; readonly sha256: string } {
    this.flush()
    this.attempt(() => {
      fsyncSync(this.descriptor)
      this.close()
      renameSync(this.besides, this.file)
    })
    const { lines, bytes } = this
    return { file: path.basename(this.file), lines, bytes, sha256: this.hash.digest('hex') }
  }

  /** Nothing of it is put in place, unless it was before. */
  abandon(): void {
    try {
      this.close()
      rmSync(this.besides, { force: true })
    } catch {
      // The error that led here is told.
    }
  }

  /** Once: the number of a closed descriptor may be that of another file by now. */
  private close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    closeSync(this.descriptor)
  }

  private get besides(): string {
    return `${this.file}.tmp`
  }

  private flush(): void {
    const bytes = Buffer.from(this.gathered)
    this.gathered = ''
    this.bytes += bytes.length
    this.hash.update(bytes)
    this.attempt(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at)
    })
  }

  private attempt<T>(act: () => T): T {
    try {
      return act()
    } catch (error) {
      throw stateErrorOf(this.file, error)
    }
  }
}
