/**
 * `shared-child.js URL SECONDS`: one of several processes on one database, 50 durable steps at once. Says when it is ready,
 * waits to be told, and sends how many it did. Imports the library.
 */
import { Library } from './library.js'

const [url = '', seconds = '1'] = process.argv.slice(2)
const library = await Library.open({ url })
await library.steps(500, 50)
const told = new Promise((resolve) => process.once('message', resolve))
process.send?.('ready')
await told

const startMs = performance.now()
let steps = 0
while (performance.now() - startMs < Number(seconds) * 1000) {
  await library.steps(500, 50)
  steps += 500
}
process.send?.((steps / (performance.now() - startMs)) * 1000)
await library.close()
process.disconnect()
