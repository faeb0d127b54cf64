/** `bullmq.mjs COUNT WIDTH OPERATION REDIS_PORT`: jobs recorded in bulk and worked on by one process, on a Redis without persistence. */
import { Queue, Worker } from 'bullmq'
import { BATCH, operationOf, report } from './work.mjs'

const [count, width, operation = '', port] = process.argv.slice(2)
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null }
const name = `jobs-${process.pid}`
const queue = new Queue(name, { connection })
await queue.waitUntilReady()
const perform = operationOf(operation)

await report(async () => {
  for (let first = 0; first < Number(count); first += BATCH) {
    const size = Math.min(BATCH, Number(count) - first)
    await queue.addBulk(Array.from({ length: size }, (_, i) => ({ name: 'item', data: { i: first + i } })))
  }
  const worker = new Worker(name, perform, { connection, concurrency: Number(width) })
  let left = Number(count)
  await new Promise((resolve) => worker.on('completed', () => --left === 0 && resolve(undefined)))
  await worker.close()
})
await queue.obliterate({ force: true })
await queue.close()
