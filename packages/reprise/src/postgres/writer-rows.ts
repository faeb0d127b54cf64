/**
 * How rows of writers are removed: with the number of their decisions kept, since the sum over all rows says whether
 * anything was written. Imports its own layer.
 */
import { CLOCK } from './connections.js'

/** The row that counts the decisions of writers that are gone, and removals. */
export const NO_WRITER = ''

/** `which`: the condition on the rows. The row without a writer is locked last, so that nobody waits in a circle. */
export function removedWriters(which: string): string {
  return `WITH gone AS (DELETE FROM $.writers WHERE ${which} RETURNING decision),
    kept AS (INSERT INTO $.writers AS w (id, decision, since)
      SELECT '${NO_WRITER}', sum(decision), ${CLOCK} FROM gone HAVING sum(decision) > 0
      ON CONFLICT (id) DO UPDATE SET decision = w.decision + excluded.decision)
    SELECT count(*) AS removed FROM gone`
}
