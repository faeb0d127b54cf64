/** The ledger of durable tasks and its address, for a run of a workflow in the same store. Imports types only. */
import type { Durable } from '../durable/durable.js'
import type { OtherOwner } from '../durable/other-owners.js'
import type { Ledger } from '../ledger/ledger.js'

/** Closing it does nothing: it is closed with the durable tasks that opened it. */
export function sharedLedger(durable: Durable): Ledger {
  return new Proxy(durable['ledger'], {
    get(ledger, key) {
      if (key === 'close') return () => Promise.resolve()
      const value: unknown = Reflect.get(ledger, key)
      return typeof value === 'function' ? value.bind(ledger) : value
    },
  })
}

/** What `openDurable` was given; undefined for a ledger that was open. It may contain a password. */
export function addressOf(durable: Durable): string | undefined {
  return durable['settings'].address?.()
}

/** The id under which this process owns tasks and runs. */
export function ownerOf(durable: Durable): string {
  return durable.runs['parts'].owner
}

/** The process that holds the runs of this owner, and whether it is seen on this machine; undefined if it is gone. */
export function holderOf(
  durable: Durable,
  owner: string,
): Promise<{ readonly owner: OtherOwner; readonly isSeen: boolean } | undefined> {
  return durable['ownership'].holderOf(owner)
}
