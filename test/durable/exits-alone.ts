/**
 * A process whose ledger fails while nobody waits for anything, and one that works until it is stopped:
 * `exits-alone.ts silent|work|idle`. Imports the published entries.
 */
import { MemoryLedger, openDurable } from 'reprise/durable'
import { faultyLedger } from 'reprise/testing'

const [how] = process.argv.slice(2)
const failing = faultyLedger(new MemoryLedger(), {
  failAt: ({ verb }) => (verb === 'claim' ? 'before' : undefined),
})
const durable = await openDurable(how === 'idle' ? 'memory:' : failing)
const task = durable.task('t', {}, () => 1)
if (how !== 'idle') await task.start(null, { id: 'a' })
if (how === 'idle') process.once('SIGTERM', () => void durable.close())
if (how !== 'silent') {
  process.stdout.write('works\n')
  await durable.work()
  process.stdout.write('stopped\n')
}
