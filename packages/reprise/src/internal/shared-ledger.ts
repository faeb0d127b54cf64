/** The ledger of durable tasks and its address, for a run of a workflow in the same store. Imports types only. */
import type { Durable } from '../durable/durable.js'
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
