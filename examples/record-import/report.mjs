/** Adds up the results of the map: `node report.mjs RESULTS_FILE`. Reads line by line, so any number of items will do. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const report = { records: 0, imported: 0, cents: 0, failed: [] }
for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const { key, state, result, error } = JSON.parse(line)
  report.records++
  if (state === 'succeeded') {
    report.imported++
    report.cents += result.cents
  } else report.failed.push(`${key}: ${error}`)
}
console.log(JSON.stringify(report, undefined, 2))
