/**
 * `restart-child.js fill|fill-fresh|open FILE COUNT`: makes a file in which COUNT tasks wait for an hour and one is due,
 * or opens it as a program does that starts again, and prints what that took. Imports the library.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openChosenDatabase, openChosenDurable } from '../../test/chosen-driver.js'
import { POLICY } from './library.js'

const [mode = '', file = '', count = '0'] = process.argv.slice(2)
const COPIED =
  'queue, payload_hash, policy_hash, generation, input, correlation_id, created_at, status, owner, updated_at'

const FAILURE = JSON.stringify({ name: 'Error', message: 'no' })

/**
 * One by the library, the others its copies, fresh or after a failed attempt: a million by themselves would take minutes.
 */
async function fill(): Promise<void> {
  const durable = await openChosenDurable(file)
  await durable.drain()
  await durable.task('wait', POLICY, (input: number) => input).start(0, { id: 'first' })
  await durable.close()
  const database = await openChosenDatabase(file)
  if (mode === 'fill-fresh') {
    database
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO tasks (scope_kind, scope, id, claim_rank, due_at, fence, progress, ${COPIED})
        SELECT scope_kind, scope, 't' || i, 2, due_at + 3600000 + i, 0, progress, ${COPIED} FROM tasks, n`,
      )
      .run(Number(count))
    return database.close()
  }
  database
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO tasks (scope_kind, scope, id, claim_rank, due_at, fence, progress, attempts_kept, ${COPIED})
      SELECT scope_kind, scope, 't' || i, 1, due_at + 3600000 + i, 1,
        json_set(progress, '$.retry.launched', 1, '$.retry.failures', 1, '$.lastFailure', json('${FAILURE}')), 1, ${COPIED}
      FROM tasks, n`,
    )
    .run(Number(count))
  database.exec(
    `INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before, failure,
      signature, owner)
    SELECT pk, 1, 1, 1, created_at, created_at, 'failure', 0, '${FAILURE}', 'Error: no', 'me'
    FROM tasks WHERE attempts_kept = 1`,
  )
  database.close()
}

async function open(): Promise<object> {
  const before = process.memoryUsage.rss()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const startMs = performance.now()
  const durable = await openChosenDurable(file)
  const firstMs = await new Promise<number>((resolve) => {
    durable.task('wait', POLICY, (input: number) => {
      resolve(performance.now() - startMs)
      return input
    })
  })
  const resumeStartMs = performance.now()
  const { waiting } = await durable.resume()
  const resumeMs = performance.now() - resumeStartMs
  const rssMb = (process.resourceUsage().maxRSS * 1024 - before) / 1e6
  await durable.close()
  return { firstMs, resumeMs, rssMb, waiting, stallMs: delay.max / 1e6 }
}

if (mode.startsWith('fill')) await fill()
else console.log(JSON.stringify(await open()))
