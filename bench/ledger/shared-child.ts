/**
 * `shared-child.js FILE SECONDS`: one of several processes on one file, 50 durable steps at once. Says when it is ready,
 * waits to be told, and sends how many it did and how long its event loop was kept from turning. Imports the library.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Library } from './library.js'

const [file = '', seconds = '1'] = process.argv.slice(2)
const library = await Library.open(file, 50)
await library.steps(500, 50, async (input) => input)
const told = new Promise((resolve) => process.once('message', resolve))
process.send?.('ready')
await told

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const startMs = performance.now()
let steps = 0
while (performance.now() - startMs < Number(seconds) * 1000) {
  await library.steps(500, 50, async (input) => input)
  steps += 500
}
delay.disable()
const rate = (steps / (performance.now() - startMs)) * 1000
process.send?.({ rate, p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 })
await library.close()
process.disconnect()
