/**
 * A directory with a map in it, run within this process on a store of its own, and what is left of it: events, result
 * files, records. Imports Node, the library and the workflow package.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Ledger, openLedger } from 'reprise/durable'
import { loadWorkflow, resumeWorkflow, type RunEvent, runWorkflow } from '@reprise/workflow'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'

export type StoreKind = 'sqlite' | 'postgres'
export const STORES: readonly StoreKind[] = ['sqlite', 'postgres']

/** What the map step of a document says, and what stands around it. */
export interface MapDocument {
  readonly map?: Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

export interface ItemLine {
  readonly index: number
  readonly key: string
  readonly state: string
  readonly result: unknown
  readonly attempts: number
  readonly error?: string
}

type EventOf<T> = Extract<RunEvent, { readonly type: T }>

export class MapFixture {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'reprise-map-'))
  readonly runId = 'import-1'
  events: RunEvent[] = []
  readonly store: string

  private readonly database: TestDatabase | undefined

  private constructor(database: TestDatabase | undefined) {
    this.database = database
    this.store = database?.url ?? `sqlite:${path.join(this.directory, 'ledger.db')}`
  }

  static async in(kind: StoreKind): Promise<MapFixture> {
    return new MapFixture(kind === 'sqlite' ? undefined : await testDatabase())
  }

  /** Begins the run, and resolves to its state. */
  async run(document: MapDocument, options: Partial<Parameters<typeof runWorkflow>[1]> = {}): Promise<string> {
    const plan = await this.plan(document)
    const { state } = await runWorkflow(plan, { ...this.options(), runId: this.runId, ...options })
    return state
  }

  async resume(document: MapDocument, options: Partial<Parameters<typeof resumeWorkflow>[2]> = {}): Promise<string> {
    const { state } = await resumeWorkflow(await this.plan(document), this.runId, { ...this.options(), ...options })
    return state
  }

  write(name: string, text: string): void {
    writeFileSync(path.join(this.directory, name), text)
  }

  read(name: string): string {
    const file = path.join(this.directory, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  lines(name: string): string[] {
    return this.read(name).split('\n').filter(Boolean)
  }

  results(kind = 'results', map = 'map'): ItemLine[] {
    return this.lines(`state/runs/${this.runId}/${map}/${kind}.ndjson`).map((line) => JSON.parse(line) as ItemLine)
  }

  told<T extends RunEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }

  /** The map's end, as it was told last. */
  get end(): EventOf<'map_finished'> {
    const end = this.told('map_finished').at(-1)
    if (end === undefined) throw new Error('no map has ended')
    return end
  }

  async look<T>(how: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = await openLedger(this.store)
    try {
      return await how(ledger)
    } finally {
      await ledger.close()
    }
  }

  async remove(): Promise<void> {
    await this.database?.drop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  private plan(document: MapDocument): ReturnType<typeof loadWorkflow> {
    const text = JSON.stringify({ name: 'import', ...(document.map && { mode: 'mapreduce' }), ...document })
    return loadWorkflow(text, { file: path.join(this.directory, 'import.yaml') })
  }

  private options() {
    return {
      durable: this.store,
      stateDirectory: path.join(this.directory, 'state'),
      onEvent: (event: RunEvent) => void this.events.push(event),
    }
  }
}

/** Shell text that notes the item and its attempt in `starts`, and then does something. */
export function noting(rest = 'true'): string {
  return `echo "\${item.key} $REPRISE_ATTEMPT" >> starts; ${rest}`
}
