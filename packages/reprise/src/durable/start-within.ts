/**
 * Starts of tasks within a transaction of the program: what `start` takes, and what is refused. Imports core, the ledger's
 * port and its own layer.
 */
import { OptionsError } from '../core/errors.js'
import { expectOptions, type OptionCheck } from '../core/options.js'
import type { Creation, Ledger, NewTask, TransactionClient } from '../ledger/ledger.js'
import type { Definition } from './definition.js'
import type { StartOptions } from './tasks.js'

const ID: OptionCheck = [(id) => typeof id === 'string', 'a text']
const CLIENT: OptionCheck = [isClient, 'a client of pg with a transaction, as pool.connect() gives one']

/** A pool takes another connection for every statement: what it is asked is no transaction. */
function isClient(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { query?: unknown }).query === 'function' && !('totalCount' in value)
}

export function startOptionsOf({ name }: Definition, options: StartOptions = {}): StartOptions {
  expectOptions(`the task ${name}`, options, { id: ID, client: CLIENT })
  return options
}

/** Records the task by a statement of the program's client. */
export async function createWithin(
  ledger: Ledger,
  { name, conductor }: Definition,
  client: TransactionClient,
  task: NewTask,
): Promise<Creation> {
  const why =
    ledger.createWithin === undefined
      ? `the store ${ledger.name} shares no transaction with programs: open durable tasks on PostgreSQL, or leave client out`
      : conductor === undefined
        ? undefined
        : 'a step of a run is recorded by its conductor: leave client out'
  if (why !== undefined || ledger.createWithin === undefined)
    throw new OptionsError(`the task ${name}`, [{ path: 'client', message: why ?? '' }])
  return ledger.createWithin(client, task)
}
