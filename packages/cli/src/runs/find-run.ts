/** The run that somebody means. Imports the library and the errors of commands. */
import { nearest } from 'reprise'
import { type Ledger, livingOwners, type RunRecord } from 'reprise/durable'
import { RefusedError } from '../failures.js'

/** Of those with a similar name. */
const LOOKED_AT = 1000
const SHOWN = 10

export async function findRun(ledger: Ledger, id: string): Promise<RunRecord> {
  const run = await ledger.run(id)
  if (run !== undefined) return run
  const ids = (await ledger.runs({ limit: LOOKED_AT })).map((one) => one.id)
  const near = nearest(id, ids)
  const message = `There is no run ${id}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  throw new RefusedError({ kind: 'not_found', message, next: ['reprise ps'] })
}

/** The only one that can be resumed. */
export async function interruptedRun(ledger: Ledger): Promise<RunRecord> {
  const living = await livingOwners(ledger)
  const open = await ledger.runs({ statuses: ['running', 'interrupted'] })
  const left = open.filter(({ owner }) => owner === null || !living.has(owner))
  const [only] = left
  if (only !== undefined && left.length === 1) return only
  if (only === undefined) {
    const message = 'No run was interrupted: there is nothing to resume.'
    throw new RefusedError({ kind: 'not_found', message, next: ['reprise ps'] })
  }
  const more = left.length > SHOWN ? ['reprise ps --state interrupted'] : []
  const next = [...left.slice(0, SHOWN).map(({ id }) => `reprise resume ${id}`), ...more]
  throw new RefusedError({ kind: 'not_possible', message: `${left.length} runs were interrupted: say which.`, next })
}
