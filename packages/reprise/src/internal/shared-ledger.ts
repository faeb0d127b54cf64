/** The ledger of durable tasks, for a second user of it: a run of a workflow in the same store. Imports types only. */
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
