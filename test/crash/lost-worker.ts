/** A process that executes the task until it is killed: `lost-worker.ts ADDRESS DELAY`. Imports sources. */
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { defineLost } from './lost-task.js'

const [address = '', initialDelay = ''] = process.argv.slice(2)
const durable = await openDurable(address, { lease: '600ms', concurrency: 1 })
defineLost(durable, initialDelay)
await durable.work()
