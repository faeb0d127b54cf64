/** The figures of a campaign on PostgreSQL as a section of a page. Imports the tally. */
import type { Tally } from './tally.js'

export interface Run {
  readonly tally: Tally
  readonly seed: number
  readonly seconds: number
  readonly node: string
  /** As it was started. */
  readonly command: string
}

export const HEADING = '## PostgreSQL'

export function figuresOf({ tally, seconds }: Run): string {
  const { faultRuns, lives, failed, tasks, starts, again, made, faults } = tally
  const rows = [
    ['processes started', lives],
    ['… of these ended because their ledger failed, and started again', failed],
    ['databases brought to their end', faultRuns],
    ['tasks', tasks],
    ['attempts started', starts],
    ['… of these started again, in flight at a fault', again],
    ['promises broken', faults.length],
    ['seconds', Math.round(seconds)],
  ]
  const byFault = [...made].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    ...['| what | count |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)],
    ...['', '| fault | count |', '|---|---|', ...byFault.map((row) => `| ${row.join(' | ')} |`)],
  ].join('\n')
}

export function section(run: Run): string {
  return `${HEADING}

Written by \`${run.command}\` with seed ${run.seed} on Node ${run.node.slice(1)} and PostgreSQL 18, fsync on. Two or more
processes with the same mixed load work on one database, while its server is stopped without a checkpoint, its backends
are terminated, its disk fails (EIO, by a tracer), the connection is cut exactly at a commit (before the server hears of
it, while nobody can say, after the server has answered, or so that it arrives when the client has long been told that
the connection is lost), the network is silent for longer than a lease, or the processes are killed or stopped. When all tasks have ended, the same history checker looks for broken promises, and the
server's own checker (amcheck) at every table and index.

${figuresOf(run)}
`
}
