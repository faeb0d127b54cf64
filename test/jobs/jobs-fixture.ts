/** Jobs on every kind of store, with retries that do not wait. Imports sources and the test server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach } from 'vitest'
import type { PolicyInput } from 'reprise'
import { type Ledger, openLedger } from 'reprise/durable'
import type { JobHandler, JobsOptions } from '@reprise/jobs'
import { type Jobs, openJobsWith } from '../../packages/jobs/src/jobs.js'
import { testDatabase } from '../postgres/shared-server.js'

const QUICK: PolicyInput = { attempts: 1000, initialDelay: '1ms', backoff: 'fixed', jitter: false }

interface JobStore {
  readonly name: string
  readonly address: () => Promise<string>
}

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-jobs-'))
let places = 0
const removals: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const remove of removals.splice(0)) await remove()
  rmSync(directory, { recursive: true, force: true })
})

const SQLITE: JobStore = {
  name: 'SQLite',
  address: async () => `sqlite:${path.join(directory, `${places++}.db`)}`,
}

const POSTGRES: JobStore = {
  name: 'PostgreSQL',
  address: async () => {
    const database = await testDatabase()
    removals.push(() => database.drop())
    return `${database.url}?connections=4`
  },
}

export const STORES: readonly JobStore[] = [SQLITE, POSTGRES]

/** Everything that is opened is closed after each test. */
export class JobsPlace {
  readonly address: string
  private readonly opened: { close(): Promise<void> }[] = []

  constructor(address: string) {
    this.address = address
  }

  async open(options: JobsOptions = {}, policy: PolicyInput = QUICK): Promise<Jobs> {
    const jobs = await openJobsWith(this.address, { env: {}, ...options }, policy)
    this.opened.push(jobs)
    return jobs
  }

  async ledger(): Promise<Ledger> {
    const ledger = await openLedger(this.address)
    this.opened.push(ledger)
    return ledger
  }

  async close(): Promise<void> {
    for (const one of this.opened.splice(0).toReversed()) await one.close()
  }
}

export function jobsPlaces(store: JobStore): () => Promise<JobsPlace> {
  const made: JobsPlace[] = []
  afterEach(async () => {
    for (const place of made.splice(0)) await place.close()
  })
  return async () => {
    const place = new JobsPlace(await store.address())
    made.push(place)
    return place
  }
}

/** Fails as often as the parameter `fails` says, then gives how many attempts it took. */
export const failSome: JobHandler = async ({ fails = 0 }, { attempt }) => {
  if (attempt <= Number(fails)) throw new Error(`no ${attempt}`)
  return { attempts: attempt }
}

export function named(count: number, params: (index: number) => object = () => ({})): object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `w${index}`, handler: 'some', params: params(index) }))
}
