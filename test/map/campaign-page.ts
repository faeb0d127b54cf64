/** The figures of a campaign with agents, and their section of a page. Imports the campaign's types. */
import type { AgentsCampaign } from './agents-campaign.js'
import type { KilledAgentsSums } from './killed-agents.js'

export interface MeasuredCampaign {
  readonly store: 'SQLite' | 'PostgreSQL'
  readonly campaign: AgentsCampaign
  readonly sums: KilledAgentsSums
  readonly seconds: number
}

export function headingOf({ store, campaign }: MeasuredCampaign): string {
  return `## Agents on ${store}${campaign.isolation === 'worktree' ? ', in worktrees' : ''}`
}

export function figuresOf({ campaign, sums, seconds }: MeasuredCampaign): string {
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
    ...(campaign.isolation === 'worktree' ? mergeRows(sums) : []),
    ['promises broken', sums.faults.length],
    ['seconds', Math.round(seconds)],
  ]
  return ['| what | count |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
}

function mergeRows(sums: KilledAgentsSums): (string | number)[][] {
  return [
    ['items merged', sums.merged],
    ['items whose merge was refused: the dead letter names the branch that has their work', sums.conflicts],
    ['working trees of killed processes that were left for `clean`', sums.orphans],
  ]
}

export function sectionOf(measured: MeasuredCampaign): string {
  const { store, campaign } = measured
  const { kills, agents, seed, isolation } = campaign
  const flags = `${store === 'SQLite' ? '' : ' --postgres'}${isolation === 'worktree' ? ' --worktrees' : ''}`
  const merges = isolation === 'worktree' ? ` ${OF_MERGES}` : ''
  return `${headingOf(measured)}

Written by \`npm run crash:maps --${flags} --kills ${kills} --agents ${agents} --seed ${seed} --write\` on Node ${process.versions.node}.
${agents} agents and the process that executes the run share a map with \`max_parallel\`, \`rate\` and \`max_retries\`. They are
killed, asked to stop or suspended for longer than their lease at random moments, and replaced. When a run has ended, the
history checker looks for broken promises (I1 to I9), and at the tally, the most items at once, the starts in any time, the
charged retries, and what reduce was given.${merges}

${figuresOf(measured)}
`
}

const OF_MERGES = `Then it compares the ledger with the git history of the branch that the run works on:
every item that succeeded is merged once, by an execution that the ledger knows, and its work is in one commit; of an item
that failed nothing is there. Each execution writes a file of its own: all of these are in a commit of some branch. The
branches that are left have work that is nowhere else, and a dead letter of a conflict names one of them.`
