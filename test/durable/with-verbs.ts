/** A ledger of which a test answers some verbs itself. Imports the ledger's types. */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'

/** `ledger`, with some of its verbs answered by others. */
export function withVerbs(ledger: Ledger, verbs: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in verbs ? verbs : target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
