/**
 * A process that works on two queues, `owner.ts ADDRESS FILE`: every execution appends a line, at once, to a file that
 * all share. Ends when it is told to by a message. Imports the durable driver's source.
 */
import { appendFileSync } from 'node:fs'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'

const [address = '', file = ''] = process.argv.slice(2)
const durable = await openDurable(address, { concurrency: 4, lease: '2s' })
for (const queue of ['long', 'short']) {
  durable.task(queue, { attempts: 3 }, async (input: { isSlow?: boolean }, { taskId }) => {
    appendFileSync(file, `${process.pid} ${queue} ${taskId}\n`)
    if (input.isSlow) await new Promise((resolve) => setTimeout(resolve, 50))
    return process.pid
  })
}
process.on('message', () => void durable.close().then(() => process.disconnect()))
process.send?.('ready')
