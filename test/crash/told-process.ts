/**
 * A process that serves one queue and does what it is told by messages: `told-process.ts ADDRESS LEASE_MS`. A task runs
 * until the process is told its result. Imports the durable driver's source.
 */
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { chosenDriver, openChosenDurable } from '../chosen-driver.js'
import type { Order, Told } from './told-processes.js'

const [address = '', leaseMs = ''] = process.argv.slice(2)
const options = { lease: Number(leaseMs), concurrency: 4 }
const file = /^sqlite:(.+)$/.exec(address)?.[1]
const durable =
  file === undefined || chosenDriver() === undefined
    ? await openDurable(address, options)
    : await openChosenDurable(file, options)
const tell = (told: Told): void => void process.send?.(told)
const finishing = new Map<string, (value: string) => void>()
const keeping = new Map<string, (value: string) => Promise<void>>()

const work = durable.task('work', { attempts: 3, initialDelay: '10ms' }, async (_input: null, context) => {
  const { taskId: id, attempt, execution, lastCheckpoint = null } = context
  const finished = new Promise<string>((resolve) => finishing.set(id, resolve))
  keeping.set(id, (value) => context.checkpoint(value))
  tell({ type: 'began', id, attempt, execution, lastCheckpoint })
  return finished
})

const orders: { readonly [T in Order['type']]: (order: Extract<Order, { type: T }>) => Promise<void> | void } = {
  start: async ({ id }) => {
    await work.start(null, { id })
  },
  finish: ({ id, value }) => finishing.get(id)?.(value),
  keep: async ({ id, value }) => {
    await keeping.get(id)?.(value)
    tell({ type: 'kept', id, value })
  },
  block: ({ forMs }) => {
    const untilMs = performance.now() + forMs
    while (performance.now() < untilMs);
    tell({ type: 'unblocked' })
  },
  close: async () => {
    await durable.close()
    process.disconnect()
  },
}
process.on('message', (order: Order) => void orders[order.type](order as never))
await durable.resume()
tell({ type: 'ready' })
