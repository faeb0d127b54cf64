/** openworkflow with its backend for PostgreSQL: workflows by a worker, a row for each attempt of a step. */
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import { inLanes } from '../turn.mjs'
import { sqlCounter } from './counter.mjs'

/** @param {{ url: string }} place */
export const counter = ({ url }) =>
  sqlCounter(
    url,
    `SELECT count(*)::int AS n FROM openworkflow.workflow_runs WHERE status IN ('completed', 'succeeded')`,
  )

/** @type {(index: number) => void} */
let begin = () => undefined
/** @type {() => void} */
let ended = () => undefined

/** @param {{ url: string }} place */
export async function open({ url }) {
  const backend = await BackendPostgres.connect(url)
  const ow = new OpenWorkflow({ backend })
  const chain = ow.defineWorkflow({ name: 'chain' }, async ({ input, step }) => {
    const { count } = /** @type {{ count: number }} */ (input)
    for (let i = 0; i < count; i++) await step.run({ name: `step${i}` }, async () => i)
    ended()
  })
  const zero = { initialInterval: '1ms', backoffCoefficient: 1, maximumInterval: '1ms', maximumAttempts: 4 }
  let attempts = 0
  const failing = ow.defineWorkflow({ name: 'failing' }, async ({ step }) => {
    await step.run({ name: 'fails', retryPolicy: /** @type {object} */ (zero) }, () => {
      attempts++
      ended()
      throw new Error('refused')
    })
  })
  const job = ow.defineWorkflow({ name: 'job' }, async ({ input, step }) => {
    const { i } = /** @type {{ i: number }} */ (input)
    await step.run({ name: 'step' }, async () => {
      begin(i)
      return i
    })
    ended()
  })

  /** @param {number} times @param {number} width */
  async function worked(times, width) {
    const worker = ow.newWorker({ concurrency: width })
    let left = times
    const all = new Promise((resolve) => {
      ended = () => {
        if (--left === 0) resolve(undefined)
      }
    })
    await worker.start()
    await all
    return worker
  }

  /** @param {number} count */
  const record = (count) => inLanes(count, 50, (i) => job.run({ i }))

  return {
    /** @param {number} count @param {number} width */
    async steps(count, width) {
      await inLanes(width, width, () => chain.run({ count: Math.round(count / width) }))
      const worker = await worked(width, width)
      // Not measured: it looks whether all is done every 100 ms only.
      worker.stop()
    },
    /** @param {number} count @param {number} width */
    async failing(count, width) {
      await inLanes(count, 50, () => failing.run({}))
      attempts = 0
      const worker = await worked(count * 4, width)
      if (attempts !== count * 4) throw new Error(`${attempts} attempts of ${count} tasks`)
      worker.stop()
    },
    record,
    /** @param {number} count @param {number} width */
    async work(count, width) {
      const worker = await worked(count, width)
      worker.stop()
    },
    /** @param {(index: number) => void} act @param {number} width */
    async serve(act, width) {
      begin = act
      await ow.newWorker({ concurrency: width }).start()
      await new Promise(() => undefined)
    },
    async step() {
      await chain.run({ count: 1 })
      await worked(1, 1)
    },
    close: () => backend.stop(),
  }
}
