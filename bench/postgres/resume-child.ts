/**
 * `resume-child.js URL retries|fresh COUNT ROUNDS`: where COUNT tasks wait for an hour, what `resume()` takes, and the most
 * memory above that of the process before. Imports the library.
 */
import pg from 'pg'
import { openDurable } from '../../packages/reprise/src/open/index.js'
import { median } from '../ledger/statistics.js'
import { addCopies, addFreshCopies } from './copies.js'
import { POLICY } from './library.js'

const [url = '', kind = '', count = '0', rounds = '1'] = process.argv.slice(2)

const recorder = await openDurable(url)
await recorder.drain()
const { id } = await recorder.task('job', POLICY, (input: number) => input).start(0)
await recorder.close()
const client = new pg.Client(url)
await client.connect()
if (kind === 'fresh') await addFreshCopies(client, id, Number(count))
else await addCopies(client, id, Number(count), 0)
await client.query('VACUUM ANALYZE reprise.tasks, reprise.attempts')
await client.end()

const before = process.memoryUsage.rss()
const times: number[] = []
let found = 0
for (let round = 0; round < Number(rounds); round++) {
  const durable = await openDurable(url)
  durable.task('job', POLICY, (input: number) => input)
  const startMs = performance.now()
  found = (await durable.resume()).waiting
  times.push(performance.now() - startMs)
  await durable.close()
}
if (found < Number(count)) throw new Error(`Of ${count} tasks that wait, ${found} were found`)
const rssMb = Math.max(0, process.resourceUsage().maxRSS * 1024 - before) / 1e6
console.log(JSON.stringify({ resumeMs: median(times), rssMb }))
process.exit(0)
