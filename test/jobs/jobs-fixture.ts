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
import { QUICK } from './job-policy.js'

interface JobStore {
  readonly name: string
  /** `connections`: of PostgreSQL, for each ledger. */
  readonly address: (connections?: number) => Promise<string>
}

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-jobs-'))
let places = 0
let database: ReturnType<typeof testDatabase> | undefined
afterAll(async () => {
  await (await database)?.drop()
  rmSync(directory, { recursive: true, force: true })
})

const SQLITE: JobStore = {
  name: 'SQLite',
  address: async () => `sqlite:${path.join(directory, `${places++}.db`)}`,
}

const POSTGRES: JobStore = {
  name: 'PostgreSQL',
  // A schema of one database is made sooner than a database.
  address: async (connections = 4) => {
    database ??= testDatabase()
    return `${(await database).url}?connections=${connections}&schema=jobs_${places++}`
  },
}

export const STORES: readonly [JobStore, JobStore] = [SQLITE, POSTGRES]

/** Everything that is opened is closed after each test. */
export class JobsPlace {
  readonly address: string
  private readonly opened: { close(): Promise<void> }[] = []

  constructor(address: string) {
    this.address = address
  }

  async open(options: JobsOptions = {}, policy: PolicyInput = QUICK): Promise<Jobs> {
    const jobs = await openJobsWith(this.address, { env: {}, ...options }, { policy })
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

export function jobsPlaces(store: JobStore): (connections?: number) => Promise<JobsPlace> {
  const made: JobsPlace[] = []
  afterEach(async () => {
    for (const place of made.splice(0)) await place.close()
  })
  return async (connections) => {
    const place = new JobsPlace(await store.address(connections))
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
