/** Serving queues with tasks of many runs, for our own packages. Imports the durable driver. */
import { randomUUID } from 'node:crypto'
import type { Definition } from '../durable/definition.js'
import type { Durable } from '../durable/durable.js'

/** Executes tasks of the queue in this process from now on, and takes over what lost processes left of it. */
export async function serveQueue(durable: Durable, definition: Definition): Promise<void> {
  const worker = durable['worker']
  const ownership = durable['ownership']
  worker.register(definition)
  await ownership.tellQueues()
  await ownership.takeOver(randomUUID())
}

/** Tasks were changed or recorded by a transaction of the caller's own: what is due is looked for at once. */
export function wakeQueues(durable: Durable): void {
  durable['worker'].wakeAll()
}
