/**
 * DBOS: steps in workflows. A step that is retried is counted in memory, so a killed process begins its count again; the
 * workflow itself is recorded before and after.
 */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { inLanes } from '../turn.mjs'
import { sqlCounter } from './counter.mjs'

/** @param {{ url: string }} place */
export const counter = ({ url }) =>
  sqlCounter(url, `SELECT count(*)::int AS n FROM dbos.workflow_status WHERE status = 'SUCCESS'`)

const QUIET = { info() {}, debug() {}, warn() {}, error() {} }
/** @type {(index: number) => void} */
let begin = () => undefined

const chain = DBOS.registerWorkflow(
  async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i++) await DBOS.runStep(async () => i, { name: 'step' })
  },
  { name: 'chain' },
)
const failing = DBOS.registerWorkflow(
  async () => {
    const policy = { name: 'fails', retriesAllowed: true, maxAttempts: 4, intervalSeconds: 0, backoffRate: 1 }
    await DBOS.runStep(() => Promise.reject(new Error('refused')), policy)
  },
  { name: 'failing' },
)
const job = DBOS.registerWorkflow(
  async (/** @type {number} */ i) =>
    DBOS.runStep(
      async () => {
        begin(i)
        return i
      },
      { name: 'step' },
    ),
  { name: 'job' },
)

/** @param {{ url: string, queue?: boolean }} place */
export async function open({ url, queue = false }) {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: 20,
    logger: QUIET,
    applicationVersion: '1',
    ...(queue ? {} : { listenQueues: [] }),
  })
  await DBOS.launch()
  const enqueued = () => DBOS.registerQueue('jobs', { workerConcurrency: 100, minPollingIntervalMs: 20 })

  return {
    /** @param {number} count @param {number} width */
    steps: (count, width) => inLanes(width, width, () => chain(Math.round(count / width))),
    /** @param {number} count @param {number} width */
    failing: (count, width) => inLanes(count, width, () => failing().catch(() => undefined)),
    /** @param {number} count @param {number} width */
    run: (count, width) => inLanes(count, width, (i) => job(i)),
    /** @param {number} count */
    async record(count) {
      await enqueued()
      await inLanes(count, 100, (i) => DBOS.startWorkflow(job, { queueName: 'jobs' })(i))
    },
    /** @param {(index: number) => void} act */
    async serve(act) {
      begin = act
      await enqueued()
      await new Promise(() => undefined)
    },
    step: () => chain(1),
    close: () => DBOS.shutdown(),
  }
}
