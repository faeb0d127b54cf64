/**
 * pg-boss: jobs fetched, completed and failed in batches, which is its fastest way. It keeps the last output of a job and
 * no history of attempts, and does not fence completions.
 */
import PgBoss from 'pg-boss'
import { inLanes } from '../turn.mjs'
import { sqlCounter } from './counter.mjs'

/** @param {{ url: string }} place */
export const counter = ({ url }) =>
  sqlCounter(url, `SELECT count(*)::int AS n FROM pgboss.job WHERE state = 'completed'`)

const QUEUE = 'jobs'
const BATCH = 1000
/** Fetchers at a time, that share the width. */
const LANES = 2

/** @param {{ url: string }} place */
export async function open({ url }) {
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(QUEUE)

  /** Jobs that are there now. @param {(index: number) => Promise<unknown>} perform @param {number} width */
  async function drain(width, perform) {
    const lane = async () => {
      for (;;) {
        const jobs = await boss.fetch(QUEUE, { batchSize: Math.ceil(width / LANES) })
        if (jobs.length === 0) return
        const ended = await Promise.allSettled(jobs.map((job) => perform(/** @type {{ i: number }} */ (job.data).i)))
        const idsOf = (/** @type {string} */ status) =>
          jobs.filter((_, i) => ended[i]?.status === status).map(({ id }) => id)
        const [done, failed] = [idsOf('fulfilled'), idsOf('rejected')]
        if (done.length > 0) await boss.complete(QUEUE, done)
        if (failed.length > 0) await boss.fail(QUEUE, failed)
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** @param {number} count @param {Partial<PgBoss.JobInsert>} [options] */
  async function record(count, options) {
    await inLanes(Math.ceil(count / BATCH), 2, (page) => {
      const size = Math.min(BATCH, count - page * BATCH)
      return boss.insert(
        Array.from({ length: size }, (_, i) => ({ name: QUEUE, data: { i: page * BATCH + i }, ...options })),
      )
    })
  }

  return {
    record,
    /** @param {number} count @param {number} width */
    async failing(count, width) {
      await record(count, { retryLimit: 3, retryDelay: 0, retryBackoff: false })
      await drain(width, async () => {
        throw new Error('refused')
      })
    },
    /** @param {number} _count @param {number} width */
    work: (_count, width) => drain(width, async (i) => i),
    /** Works on what comes until the process ends. @param {(index: number) => void} begin @param {number} width */
    async serve(begin, width) {
      for (;;) {
        await drain(width, async (i) => begin(i))
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    /** @param {number} count */
    async wait(count) {
      await record(count, { startAfter: new Date(Date.now() + 3_600_000) })
      await record(1)
    },
    async step() {
      await boss.send(QUEUE, { i: 0 })
      const [job] = await boss.fetch(QUEUE)
      if (job) await boss.complete(QUEUE, job.id)
    },
    close: () => boss.stop({ graceful: false }),
  }
}
