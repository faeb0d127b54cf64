/** A process that closes its durable tasks while some run and some wait for an hour, and has nothing else to do. */
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { Line, until } from './process-model.js'

const [file = '', how = ''] = process.argv.slice(2)
const environment = environmentOf({})
const line = new Line(await openSqlite(file, { clock: environment.clock, synchronous: 'normal' }), false)
const durable = await Durable.open(line.ledger, environment, {
  concurrency: 5,
  leaseMs: 30_000,
  policyChange: 'refuse',
})
const policy = { attempts: 3, initialDelay: '1h', maxDelay: '1h', attemptTimeout: '1h', timeout: '10h' } as const
let started = 0
const task = durable.task('t', policy, (input: number) => {
  started++
  if (input % 2 === 0) throw new Error('later')
  return new Promise(() => undefined)
})
for (let input = 0; input < 4; input++) task.run(input, { id: `i${input}` }).catch(() => undefined)
await until(() => started === 4)
await until(async () => (await task.status('i2'))?.state === 'waiting')
if (how === 'fail') {
  line.break(new Error('disk full'))
  await task.cancel('i0').catch(() => undefined)
}
await durable.close().catch(() => undefined)
process.stdout.write('closed\n')
