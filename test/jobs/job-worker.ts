/** A worker of a datacenter as a process: `job-worker.ts ADDRESS DATACENTER`, until it is killed. Imports sources. */
import { openJobsWith } from '../../packages/jobs/src/jobs.js'

const [address = '', datacenter = ''] = process.argv.slice(2)
const policy = { attempts: 1000, initialDelay: '1ms', backoff: 'fixed', jitter: false } as const
const jobs = await openJobsWith(address, { env: {}, lease: '2s' }, policy)
const some = async (
  { fails = 0 }: Readonly<Record<string, unknown>>,
  context: { readonly attempt: number },
): Promise<object> => {
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))
  if (context.attempt <= Number(fails)) throw new Error('no')
  return {}
}
await jobs.work({ datacenter, slots: 3, lease: '2s', handlers: { some: some as never } })
process.stdout.write('ready\n')
setInterval(() => undefined, 60_000)
