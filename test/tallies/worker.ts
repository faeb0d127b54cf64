/** A process that executes counted tasks: `worker.ts ADDRESS`, until it is killed. Imports sources. */
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { defineMembers } from './member.js'

const [address = ''] = process.argv.slice(2)
const durable = await openDurable(address, { lease: '3s', synchronous: 'normal', concurrency: 8 })
defineMembers(durable)
process.stdout.write('ready\n')
await durable.work()
