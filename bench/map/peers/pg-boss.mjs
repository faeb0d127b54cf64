/** `pg-boss.mjs COUNT WIDTH OPERATION URL`: jobs recorded, fetched and completed in batches, its fastest way. */
import PgBoss from 'pg-boss'
import { BATCH, operationOf, report } from './work.mjs'

/** Fetchers at a time, which share the width. */
const LANES = 2
const [count, width, operation = '', connectionString] = process.argv.slice(2)
const boss = new PgBoss({ connectionString, max: 10, supervise: false, schedule: false })
boss.on('error', (error) => console.error(error))
await boss.start()
const name = `jobs-${process.pid}`
await boss.createQueue(name)
const perform = operationOf(operation)

async function lane() {
  for (;;) {
    const jobs = await boss.fetch(name, { batchSize: Math.ceil(Number(width) / LANES) })
    if (jobs.length === 0) return
    await Promise.all(jobs.map(perform))
    await boss.complete(
      name,
      jobs.map(({ id }) => id),
    )
  }
}

await report(async () => {
  for (let first = 0; first < Number(count); first += BATCH) {
    const size = Math.min(BATCH, Number(count) - first)
    await boss.insert(Array.from({ length: size }, (_, i) => ({ name, data: { i: first + i } })))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
})
await boss.stop({ graceful: false })
