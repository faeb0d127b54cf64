/** A process that executes members of the group: `worker.ts ADDRESS TEMPLATE`, until it is killed. Imports sources. */
import type { NewTask } from '../../packages/reprise/src/ledger/ledger.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { defineMembers } from './member.js'

const [address = '', template = ''] = process.argv.slice(2)
const durable = await openDurable(address, { lease: '3s', synchronous: 'normal', concurrency: 8 })
defineMembers(durable, JSON.parse(template) as NewTask)
process.stdout.write('ready\n')
await durable.work()
