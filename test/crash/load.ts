/**
 * A process with a mixed load of durable tasks, made to be killed: `load.ts FILE LOG TASKS SEED`. Every start of an
 * operation is appended to LOG before anything else, so that what really ran can be compared with what the ledger says.
 * Exits with 0 when all tasks have ended. Imports the durable driver's source.
 */
import { appendFileSync } from 'node:fs'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { drawsOf } from '../../packages/reprise/src/core/state.js'

const [file = '', log = '', count = '0', seed = '0'] = process.argv.slice(2)

const durable = await openDurable(`sqlite:${file}`, { leaseMs: 2000, concurrency: 20 })
const policy = { attempts: 4, initialDelay: '10ms', maxDelay: '40ms', jitter: 'full' } as const

/** By task: fails so often before it succeeds; some never do. */
const failuresOf = (task: number): number => Math.floor(drawsOf(Number(seed))(task) * 6)

const work = durable.task('work', policy, async (task: number, context) => {
  appendFileSync(log, `${JSON.stringify({ task, attempt: context.attempt, execution: context.execution })}\n`)
  await new Promise((resolve) => setTimeout(resolve, drawsOf(task)(context.attempt) * 15))
  if (context.attempt <= failuresOf(task)) throw new Error(`task ${task} fails at attempt ${context.attempt}`)
  return { task, attempt: context.attempt }
})

process.send?.('ready')
await durable.resume()
const runs = Array.from({ length: Number(count) }, (_, task) => work.run(task, { id: `t${task}` }))
await Promise.allSettled(runs)
await durable.close()
