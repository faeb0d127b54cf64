/** How large a campaign with agents is, and its figures as a section of a page. Imports the campaign and the page. */
import { readFileSync, writeFileSync } from 'node:fs'
import { withSection } from '../crash/results-page.js'
import type { AgentsCampaign, KilledAgentsSums } from './killed-agents.js'

const PAGE = new URL('../crash/RESULTS.md', import.meta.url)

interface Sized extends AgentsCampaign {
  readonly timeoutMs: number
  readonly startedAtMs: number
}

/** By environment: KILLS, AGENTS, SEED, ISOLATION. The usual size is that of the test suite. */
export function agentsSettings({ seed }: { readonly seed: number }): Sized {
  const { env } = process
  const [kills, agents] = [Number(env['KILLS'] ?? 6), Number(env['AGENTS'] ?? 3)]
  return {
    seed: Number(env['SEED'] ?? seed),
    kills,
    agents,
    items: 40 * agents,
    isolation: env['ISOLATION'] ?? 'none',
    killsOfOne: Math.max(6, 4 * agents),
    timeoutMs: 180_000 + kills * 15_000,
    startedAtMs: Date.now(),
  }
}

/** With WRITE=1. */
export function writeAgentsResults(store: string, settings: Sized, sums: KilledAgentsSums): void {
  const { agents, isolation, seed, kills, startedAtMs } = settings
  const rows = [
    ['processes started', sums.processes],
    ['killed with SIGKILL', sums.kills],
    ['… of these the process that executed the run', sums.conductorKills],
    ['suspended with SIGSTOP, most for longer than the lease', sums.pauses],
    ['asked to stop', sums.orderly],
    ['runs brought to their end', sums.runs],
    ['items', sums.items],
    ['starts of items', sums.starts],
    ['… of these again under the same number', sums.again],
    ['attempts that agents ran', sums.byAgents],
    ['promises broken', sums.faults.length],
    ['seconds', Math.round((Date.now() - startedAtMs) / 1000)],
  ]
  const table = ['| what | count |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
  console.log(table)
  if (process.env['WRITE'] !== '1') return
  const name = isolation === 'none' ? '' : `, isolation ${isolation}`
  const heading = `## Agents on ${store}${name}`
  const file = store === 'SQLite' ? 'agents-kill' : 'agents-kill-postgres'
  const text = `${heading}

Written by \`KILLS=${kills} AGENTS=${agents} SEED=${seed}${isolation === 'none' ? '' : ` ISOLATION=${isolation}`} WRITE=1 npx vitest run test/map/${file}.test.ts\`
on Node ${process.version.slice(1)}. ${agents} agents and the process that executes the run share a map with \`max_parallel\`, \`rate\` and
\`max_retries\`. They are killed, asked to stop or suspended for longer than their lease at random moments, and replaced. When
a run has ended, the history checker looks for broken promises (I1 to I9), and at the tally, the most items at once, the
starts in any time, the charged retries, and what reduce was given.

${table}
`
  writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), heading, text))
}
