/** Serving queues with tasks of many runs, for our own packages. Imports the durable driver. */
import { randomUUID } from 'node:crypto'
import type { Definition } from '../durable/definition.js'
import { deliverEnd, type Delivery, type HeldAttempt, type HeldEnd } from '../durable/delivery.js'
import type { Durable } from '../durable/durable.js'

/** Executes tasks of the queue in this process from now on, and takes over what lost processes left of it. */
export async function serveQueue(durable: Durable, definition: Definition): Promise<void> {
  const worker = durable['worker']
  const ownership = durable['ownership']
  worker.register(definition)
  await ownership.tellQueues()
  await ownership.takeOver(randomUUID())
}

/** Delivers the end of an attempt that a process which is gone has executed; before the queue is served. */
export function deliverHeld(
  durable: Durable,
  definition: Definition,
  held: HeldAttempt,
  end: HeldEnd,
): Promise<Delivery> {
  const worker = durable['worker']
  const { ledger, environment } = { ledger: durable['ledger'], environment: durable['environment'] }
  const ports = {
    ledger,
    writer: worker.writer,
    isStopped: () => worker.isStopped,
    wallMs: () => environment.clock.wallMs(),
  }
  return deliverEnd(ports, definition, held, end)
}

/** Tasks were changed or recorded by a transaction of the caller's own: what is due is looked for at once. */
export function wakeQueues(durable: Durable): void {
  durable['worker'].wakeAll()
}
