/**
 * `memory-child.js FILE COUNT`: heap for each task that this process has begun with and that waits for its next
 * attempt. Needs --expose-gc. Imports the library.
 */
import { openChosenDurable } from '../../test/chosen-driver.js'

const [file = '', count = '0'] = process.argv.slice(2)
const collect = (globalThis as unknown as { gc: () => void }).gc

const durable = await openChosenDurable(file, { concurrency: 100, synchronous: 'normal' })
let ended = 0
const task = durable.task('wait', { attempts: 2, backoff: 'fixed', initialDelay: '1h', maxDelay: '1h' }, () => {
  ended++
  throw new Error('refused')
})

async function waiting(tasks: number): Promise<number> {
  ended = 0
  await Promise.all(Array.from({ length: tasks }, (_, i) => task.start(i)))
  while (ended < tasks) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 200))
  collect()
  return process.memoryUsage().heapUsed
}

// What the first ones need is compiled code.
const before = await waiting(Number(count) / 10)
const after = await waiting(Number(count))
console.log(JSON.stringify({ bytes: (after - before) / Number(count) }))
await durable.close()
