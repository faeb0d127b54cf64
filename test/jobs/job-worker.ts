/**
 * A worker of a datacenter as a process: `job-worker.ts ADDRESS DATACENTER [LEASE]`, until it is killed. Its workflows end
 * after a moment, or, with the parameter `until`, when that file is there. Imports sources.
 */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobHandler } from '@reprise/jobs'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { QUICK } from './job-policy.js'

const [address = '', datacenter = '', lease = '2s'] = process.argv.slice(2)
const jobs = await openJobsWith(address, { env: {}, lease }, { policy: QUICK })
const some: JobHandler = async ({ fails = 0, until }, { attempt, signal }) => {
  if (typeof until !== 'string') await delay(20 + Math.random() * 80)
  else while (!existsSync(until)) await delay(20, undefined, { signal })
  if (attempt <= Number(fails)) throw new Error('no')
  return { pid: process.pid }
}
await jobs.work({ datacenter, slots: 3, lease, handlers: { some } })
process.stdout.write('ready\n')
