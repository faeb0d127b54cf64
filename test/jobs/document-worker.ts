/**
 * A worker of documents and functions as a process: `document-worker.ts ADDRESS SETTINGS`, until it is killed. Says `ready`, or why it
 * does not start, and then its notes. Imports sources.
 */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobHandler } from '@reprise/jobs'
import { openLedger } from 'reprise/durable'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { WORKFLOW_POLICY } from '../../packages/jobs/src/record/queue-shapes.js'
import { QUICK, SLOW } from './job-policy.js'
import { killedAt, type KillMoment, type KillPlace } from './kill-places.js'

const RETRIES = { quick: QUICK, slow: SLOW, usual: WORKFLOW_POLICY } as const

/** Of a process of this program, as JSON. */
export interface DocumentWorkerSettings {
  readonly datacenter: string
  /** Its own directory. */
  readonly dir: string
  readonly lease?: string
  readonly slots?: number
  /** `slow`: retries wait for an hour. `usual`: as in the product. @default 'quick' */
  readonly retries?: keyof typeof RETRIES
  /** Where it ends itself. */
  readonly killedAt?: readonly [KillPlace, KillMoment]
}

const [address = '', text = '{}'] = process.argv.slice(2)
const settings = JSON.parse(text) as DocumentWorkerSettings
const { datacenter, dir, lease = '2s', slots = 2, retries = 'quick' } = settings
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const opened = await openLedger(address)
const ledger = settings.killedAt === undefined ? opened : killedAt(opened, ...settings.killedAt)
const jobs = await openJobsWith(ledger, { env: {}, lease }, { policy: RETRIES[retries] })
/** Ends after `ms`; fails as often as `fails` says, with the chance `errors`, and while the file `down` is there. */
const some: JobHandler = async ({ fails = 0, ms = 0, errors = 0, down }, { attempt, signal }) => {
  const isDown = typeof down === 'string' && existsSync(down)
  await delay(Number(ms), undefined, { signal })
  if (isDown || Math.random() < Number(errors)) throw new Error('down')
  if (attempt <= Number(fails)) throw new Error(`no ${attempt}`)
  return { n: 1 }
}
try {
  const handlers = { some }
  await jobs.work({
    datacenter,
    handlers,
    dir,
    lease,
    slots,
    onNote: ({ kind, workflow }) => say(`${kind} ${workflow}`),
  })
  say('ready')
} catch (error) {
  say(`refused: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
  await jobs.close()
}
