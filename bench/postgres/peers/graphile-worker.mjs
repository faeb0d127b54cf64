/**
 * graphile-worker, as it is and tuned: with a local queue and batched completions, as its page on performance recommends.
 * It removes what is done, keeps no history and does not fence. Its delay before a retry cannot be chosen: a
 * trigger in the database makes it zero.
 */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { inLanes } from '../turn.mjs'
import { sqlCounter } from './counter.mjs'

/** Those that are done are gone. @param {{ url: string, count: number }} place */
export const counter = ({ url, count }) =>
  sqlCounter(url, `SELECT ${count} - count(*)::int AS n FROM graphile_worker.jobs`)

const BATCH = 1000
const logger = new Logger(() => () => undefined)
const WITHOUT_DELAY = `
  CREATE OR REPLACE FUNCTION without_delay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN new.run_at := now(); RETURN new; END $$;
  CREATE OR REPLACE TRIGGER without_delay BEFORE UPDATE ON graphile_worker._private_jobs
    FOR EACH ROW WHEN (new.locked_at IS NULL AND old.locked_at IS NOT NULL) EXECUTE FUNCTION without_delay()`
const TUNED = {
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}

/** @param {{ url: string, tuned?: boolean }} place */
export async function open({ url, tuned = false }) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()

  /** @param {number} width @param {(i: number) => Promise<void>} perform */
  function runner(width, perform) {
    return run({
      connectionString: url,
      logger,
      concurrency: width,
      maxPoolSize: 20,
      pollInterval: 100,
      noHandleSignals: true,
      taskList: { job: (payload) => perform(/** @type {{ i: number }} */ (payload).i) },
      preset: { worker: tuned ? TUNED : {} },
      parsedCronItems: [],
    })
  }

  /** @param {number} count @param {object} [options] */
  async function record(count, options) {
    await inLanes(Math.ceil(count / BATCH), 2, (page) => {
      const size = Math.min(BATCH, count - page * BATCH)
      const jobs = Array.from({ length: size }, (_, i) => ({
        identifier: 'job',
        payload: { i: page * BATCH + i },
        ...options,
      }))
      return utils.addJobs(jobs)
    })
  }

  return {
    record,
    /** @param {number} count @param {number} width */
    async failing(count, width) {
      await utils.withPgClient((client) => client.query(WITHOUT_DELAY))
      await record(count, { maxAttempts: 4 })
      const working = await runner(width, async () => {
        throw new Error('refused')
      })
      let left = count
      await new Promise((resolve) => {
        working.events.on('job:failed', () => {
          if (--left === 0) resolve(undefined)
        })
      })
      await working.stop()
    },
    /** @param {number} count @param {number} width */
    async work(count, width) {
      let left = count
      const working = await runner(width, async () => undefined)
      await new Promise((resolve) => {
        working.events.on('job:complete', () => {
          if (--left === 0) resolve(undefined)
        })
      })
      await working.stop()
    },
    /** @param {(index: number) => void} begin @param {number} width */
    async serve(begin, width) {
      await (await runner(width, async (i) => begin(i))).promise
    },
    /** @param {number} count */
    async wait(count) {
      await record(count, { runAt: new Date(Date.now() + 3_600_000) })
      await record(1)
    },
    async step() {
      await utils.addJob('job', { i: 0 })
      const working = await runner(1, async () => undefined)
      await new Promise((resolve) => working.events.on('job:complete', resolve))
    },
    close: async () => {
      await utils.release()
    },
  }
}
