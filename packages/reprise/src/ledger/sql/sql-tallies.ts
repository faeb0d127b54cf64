/** Tallies of ledgers in SQL. A store may have several rows of one tally, which add up. Imports rows and the port. */
import { AFTER_PREFIX, tallyInRow } from '../rows.js'
import { type NamedTally, TASK_CLASSES, type TallyFilter } from '../tally.js'
import { Conditions, limited, type Reading, readRows } from './sql-reading.js'

const SUMS = TASK_CLASSES.map((column) => `sum(${column}) AS ${column}`).join(', ')

/** Rows of a tally that counts nothing any more add up to 0 until they are removed. */
export function* listTallies({ prefix, after, limit }: TallyFilter): Reading<readonly NamedTally[]> {
  const conditions = new Conditions().when('name > ?', after)
  if (prefix !== undefined) conditions.add('name >= ? AND name < ?', prefix, prefix + AFTER_PREFIX)
  const text = `SELECT name, ${SUMS} FROM {tallies} ${conditions.where} GROUP BY name
    HAVING sum(${TASK_CLASSES.join(' + ')}) > 0 ORDER BY name`
  const rows = yield* readRows(...limited(text, conditions, limit))
  return rows.map((row) => ({ name: row['name'] as string, ...tallyInRow(row) }))
}
