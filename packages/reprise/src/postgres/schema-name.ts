/** The name of the ledger's schema, as it may stand in a statement. Imports the ledger's errors. */
import { LedgerError } from '../ledger/errors.js'

export const DEFAULT_SCHEMA = 'reprise'

/** Letters, digits and `_`, so that it needs no quotes and means the same in every tool. */
const NAME = /^[a-z_][a-z0-9_]{0,47}$/

export function expectSchemaName(name: string): string {
  if (NAME.test(name) && !name.startsWith('pg_') && name !== 'information_schema') return name
  const rule = 'small letters, digits and _, at most 48, none of the names that PostgreSQL keeps for itself'
  throw new LedgerError('refused', `${JSON.stringify(name)} cannot be the name of a ledger's schema: ${rule}`)
}
