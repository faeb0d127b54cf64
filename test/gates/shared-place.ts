/**
 * A store for each test or for each file, with a ledger of the test's own and the processes that it starts: all of it is
 * gone afterwards, whatever became of the test. Imports the stores, the bundler and vitest.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { BundledProgram } from '../bundled-program.js'
import type { Place, Store } from './stores.js'

/** The program, bundled before the first test of the file. */
export function bundledFor(bundle: () => Promise<BundledProgram>): () => BundledProgram {
  let program: BundledProgram | undefined
  beforeAll(async () => {
    program = await bundle()
  })
  afterAll(() => program?.remove())
  return () => program as BundledProgram
}

export class SharedPlace {
  private opened: { readonly place: Place; readonly ledger: Ledger } | undefined
  readonly living = new Set<ChildProcess>()

  get address(): string {
    return this.now.place.address
  }

  get ledger(): Ledger {
    return this.now.ledger
  }

  private get now(): { readonly place: Place; readonly ledger: Ledger } {
    if (this.opened === undefined) throw new Error('The store is made before each test')
    return this.opened
  }

  async make(store: Pick<Store, 'make'>): Promise<void> {
    const place = await store.make()
    this.opened = { place, ledger: await openLedger(place.address) }
  }

  /** A process that says one line when it is ready. */
  async start({ file }: BundledProgram, ...args: readonly string[]): Promise<ChildProcess> {
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [file, this.address, ...args], { stdio: [...stdio] })
    this.keep(child)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    return child
  }

  /** It is killed at the end, if it still lives. */
  keep(child: ChildProcess): void {
    this.living.add(child)
    child.once('exit', () => this.living.delete(child))
  }

  async kill(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  async remove(): Promise<void> {
    for (const child of this.living) child.kill('SIGKILL')
    this.living.clear()
    await this.opened?.ledger.close()
    await this.opened?.place.remove()
    this.opened = undefined
  }
}

/** A store of its own for every test. */
export function placeOfEach(store: Pick<Store, 'make'>): SharedPlace {
  const place = new SharedPlace()
  beforeEach(() => place.make(store))
  afterEach(() => place.remove())
  return place
}

/** One store for all tests of the block, one after the other. `prepare`: starts what they share. */
export function placeOfAll(
  store: Pick<Store, 'make'>,
  prepare: (place: SharedPlace) => Promise<() => void>,
): SharedPlace {
  const place = new SharedPlace()
  let end: (() => void) | undefined
  beforeAll(async () => {
    await place.make(store)
    end = await prepare(place)
  }, 90_000)
  afterAll(async () => {
    end?.()
    await place.remove()
  })
  return place
}
