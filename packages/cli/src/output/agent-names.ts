/** The agents of a map in a few words: `agents 4712, 4713 on vm, 3 more`. Text of others is made plain. Imports types. */
import type { RunView } from '@reprise/workflow'
import { plainText } from 'reprise/internal'

/** Agents that are named; the others are counted. */
const MAX_NAMED = 4

/** Empty if there are none. `host`: not said, since the reader has been told it. */
export function agentNames(agents: RunView['agents'], host?: string): string {
  const named = new Map<string, number[]>()
  for (const agent of agents.slice(0, MAX_NAMED)) named.set(agent.host, [...(named.get(agent.host) ?? []), agent.pid])
  const parts = [...named].map(([where, pids]) => {
    return `${pids.join(', ')}${where === host ? '' : ` on ${plainText(where)}`}`
  })
  const more = agents.length - MAX_NAMED
  if (agents.length === 0) return ''
  return `${agents.length === 1 ? 'agent' : 'agents'} ${[...parts, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`
}
