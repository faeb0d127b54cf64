/**
 * BullMQ on a Redis without persistence, its fastest: nothing outlives the machine. It keeps errors of attempts as stack
 * traces, and completed jobs.
 */
import { Queue, Worker } from 'bullmq'
import { inLanes } from '../turn.mjs'

/** @typedef {{ url: string, redisPort: number }} Where keys begin with the name of the database that a turn has of its own */

/** @param {Where} place */
const optionsOf = ({ url, redisPort }) => ({
  connection: { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null },
  prefix: new URL(url).pathname.slice(1),
})

/** @param {Where} place */
export async function counter(place) {
  const queue = new Queue('jobs', optionsOf(place))
  return () => queue.getCompletedCount()
}

const BATCH = 1000
let serial = 0

/** @param {Where} place */
export async function open(place) {
  const options = optionsOf(place)
  const queue = new Queue('jobs', options)

  /** @param {number} count @param {import('bullmq').JobsOptions} [opts] @param {Queue} [into] */
  async function record(count, opts, into = queue) {
    await inLanes(Math.ceil(count / BATCH), 2, (page) => {
      const size = Math.min(BATCH, count - page * BATCH)
      return into.addBulk(
        Array.from({ length: size }, (_, i) => ({ name: 'job', data: { i: page * BATCH + i }, opts })),
      )
    })
  }

  /** @param {number} count @param {number} width @param {'completed' | 'failed'} event @param {() => Promise<unknown>} perform @param {Queue} from */
  async function drained(count, width, event, perform, from) {
    const worker = new Worker(from.name, perform, { ...options, concurrency: width })
    let left = count
    await new Promise((resolve) => {
      worker.on(event, (/** @type {import('bullmq').Job} */ job) => {
        if ((event === 'completed' || job.attemptsMade === 4) && --left === 0) resolve(undefined)
      })
    })
    await worker.close()
  }

  return {
    record: (/** @type {number} */ count) => record(count),
    /** @param {number} count @param {number} width */
    async failing(count, width) {
      const own = new Queue(`failing${serial++}`, options)
      await record(count, { attempts: 4 }, own)
      await drained(count, width, 'failed', () => Promise.reject(new Error('refused')), own)
      await own.close()
    },
    /** @param {number} count @param {number} width */
    work: (count, width) => drained(count, width, 'completed', async () => 1, queue),
    /** @param {(index: number) => void} begin @param {number} width */
    async serve(begin, width) {
      const worker = new Worker('jobs', async ({ data }) => begin(data.i), { ...options, concurrency: width })
      await new Promise((resolve) => worker.on('closed', resolve))
    },
    /** @param {number} count */
    async wait(count) {
      await record(count, { delay: 3_600_000 })
      await record(1)
    },
    async step() {
      await queue.add('job', { i: 0 })
      const worker = new Worker('jobs', async () => 1, options)
      await new Promise((resolve) => worker.on('completed', resolve))
    },
    close: () => queue.close(),
  }
}
