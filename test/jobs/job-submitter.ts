/**
 * Submits jobs as a process: `job-submitter.ts ADDRESS REQUESTS LEASE`, a JSON list. Says each id once its job is submitted,
 * waits for the result, and goes on; ends after the last one. Imports sources.
 */
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { QUICK } from './job-policy.js'

const [address = '', requests = '[]', lease = '2s'] = process.argv.slice(2)
const jobs = await openJobsWith(address, { env: {}, lease }, { policy: QUICK })
process.stdout.write('ready\n')
for (const request of JSON.parse(requests) as unknown[]) {
  const job = await jobs.submit(request, { isEmbedded: true })
  process.stdout.write(`${job.id}\n`)
  await job.result()
}
await jobs.close()
