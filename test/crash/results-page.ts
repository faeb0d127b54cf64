/** The figures of a campaign as a page. Imports the campaign's types. */
import type { Tally } from './campaign.js'

export interface Run {
  readonly tally: Tally
  readonly seed: number
  readonly seconds: number
  readonly node: string
  readonly driver: string
}

export function figuresOf({ tally, seconds }: Pick<Run, 'tally' | 'seconds'>): string {
  const { kills, pauses, scenarios, lives, tasks, starts, again, places, allPlaces, killsBy, scenariosBy } = tally
  const rows = [
    ['processes started', lives],
    ['killed with SIGKILL', kills],
    ['paused with SIGSTOP, most for longer than the lease', pauses],
    ['different named places they were killed at', `${places.size} of ${allPlaces}`],
    ['ledgers brought to their end', scenarios],
    ...[...scenariosBy].map(([kind, count]) => [`… ${kind}`, count]),
    ['tasks', tasks],
    ['attempts started', starts],
    ['… of these started again, in flight at a kill or pause', again],
    ['promises broken', tally.faults.length],
    ['seconds', Math.round(seconds)],
  ]
  const byKind = [...killsBy].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    ...['| what | count |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)],
    ...['', '| killed | count |', '|---|---|', ...byKind.map((row) => `| ${row.join(' | ')} |`)],
  ].join('\n')
}

/** A section for each driver. */
export const headingOf = ({ driver }: Pick<Run, 'driver'>): string => `## SQLite, by ${driver}`

/** The page with one section replaced, and the others as they are. */
export function withSection(page: string, heading: string, text: string): string {
  const parts = page.trimEnd().split(/\n+(?=## )/)
  const place = parts.findIndex((part) => part.startsWith(`${heading}\n`))
  if (place < 0) parts.push(text.trimEnd())
  else parts[place] = text.trimEnd()
  return `${parts.join('\n\n')}\n`
}

export function section(run: Run): string {
  return `${headingOf(run)}

Written by \`npm run crash -- --kills 2000 --driver ${run.driver} --write\` with seed ${run.seed} on Node ${run.node.slice(1)}. Processes with a
mixed load of durable tasks on a SQLite file are killed at named points (before, within and after each use of the ledger,
and around BEGIN and COMMIT) and at random moments, alone and two to eight at a time, or paused for longer than their
lease. When all tasks of a file have ended, the history checker looks for broken promises, I1 to I9.

${figuresOf(run)}
`
}
