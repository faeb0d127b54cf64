/**
 * A process with durable tasks on a file that is about to fail: `work FILE LOGS TASKS SIZE`. What began is appended to
 * LOGS.starts, what was acknowledged to LOGS.acks, on a disk that is well. Exits with 0 when all tasks have ended; with
 * 74, and the error as JSON on stdout, when the ledger failed; with 70 after any other error. Imports sources.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { LedgerError } from '../../packages/reprise/src/ledger/errors.js'
import { drawsOf } from '../../packages/reprise/src/core/state.js'
import { openChosenDurable } from '../chosen-driver.js'

const [file = '', logs = '', count = '0', size = '10'] = process.argv.slice(2)
const policy = { attempts: 4, initialDelay: '2ms', maxDelay: '20ms', jitter: 'full' } as const

function fail(error: unknown): never {
  const { name, message, problem } = error as LedgerError
  writeSync(1, JSON.stringify({ name, message, problem }))
  process.exit(error instanceof LedgerError ? 74 : 70)
}

process.on('unhandledRejection', (error) => {
  writeSync(1, `unhandled: ${String(error)}`)
  process.exit(70)
})

try {
  const durable = await openChosenDurable(file, { lease: '2s', concurrency: 8 })
  const work = durable.task('work', policy, async ({ task }: { task: number; padding: string }, context) => {
    const { attempt, execution } = context
    appendFileSync(`${logs}.starts`, `${JSON.stringify({ task: `t${task}`, attempt, execution })}\n`)
    await new Promise((resolve) => setTimeout(resolve, drawsOf(task)(attempt) * 8))
    if (attempt <= task % 6) throw new Error(`task ${task} fails at attempt ${attempt}`)
    return { task }
  })
  await durable.resume()
  const padding = 'x'.repeat(Number(size))
  const runs = Array.from({ length: Number(count) }, async (_, task) => {
    const ended = await work.run({ task, padding }, { id: `t${task}` }).then(
      () => 'succeeded',
      (error: unknown) => {
        if (error instanceof LedgerError || (error as { code?: string }).code === 'task_refused') throw error
        return 'failed'
      },
    )
    appendFileSync(`${logs}.acks`, `${JSON.stringify({ task: `t${task}`, ended })}\n`)
  })
  for (const run of await Promise.allSettled(runs)) if (run.status === 'rejected') throw run.reason
  await durable.close()
} catch (error) {
  fail(error)
}
