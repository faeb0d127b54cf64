/**
 * `kill-child.js fill|work FILE LOG COUNT`: records COUNT jobs, or does what there is to do until it is killed or told
 * to end. Every start of a job is a line in LOG, written before anything else. Imports the library.
 */
import { openSync, writeSync } from 'node:fs'
import { openChosenDurable } from '../../test/chosen-driver.js'
import { POLICY } from './library.js'

const [mode = '', file = '', log = '', count = '0'] = process.argv.slice(2)
const lines = openSync(log, 'a')
const durable = await openChosenDurable(file, { concurrency: 100 })
if (mode === 'fill') await durable.drain()
const job = durable.task('job', POLICY, async (input: number) => {
  writeSync(lines, `${input}\n`)
  return input
})

if (mode === 'fill') {
  const started = Array.from({ length: Number(count) }, (_, input) => job.start(input, { id: `j${input}` }))
  await Promise.all(started)
  await durable.close()
} else {
  await durable.resume()
  process.on('message', () => void durable.close().then(() => process.exit(0)))
}
