/** Runs with agents that are killed, one after the other, until there were enough kills. Imports one such run. */
import { type AgentsSettings, KilledAgents, type KilledAgentsSums } from './killed-agents.js'

export interface AgentsCampaign extends AgentsSettings {
  readonly seed: number
  readonly kills: number
  /** Kills of one run. */
  readonly killsOfOne: number
}

/** As much as the test suite has time for. */
export const SHORT_CAMPAIGN = { kills: 3, killsOfOne: 3, agents: 2, items: 32, isolation: 'none' } as const

/** Runs one after the other until there were enough kills; the sums of all runs, with the seed of each fault. */
export async function killAgents(campaign: AgentsCampaign): Promise<KilledAgentsSums> {
  const { seed, kills, killsOfOne } = campaign
  let sums: KilledAgentsSums | undefined
  for (let own = seed * 1000; (sums?.kills ?? 0) < kills; own++) {
    const one = await new KilledAgents(own, campaign).play(Math.min(killsOfOne, kills - (sums?.kills ?? 0)))
    const told = { ...one, faults: one.faults.map((fault) => `seed ${own}: ${fault}`) }
    sums = sums === undefined ? told : sumOf(sums, told)
    if (one.faults.length > 0) console.log(told.faults.join('\n'))
    console.log(
      `seed ${own}: ${sums.kills} kills, ${sums.starts} starts, ${sums.again} again; ${sums.faults.length} faults`,
    )
  }
  return sums as KilledAgentsSums
}

function sumOf(a: KilledAgentsSums, b: KilledAgentsSums): KilledAgentsSums {
  const numbers = Object.entries(a).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value + (b[name as keyof KilledAgentsSums] as number)] as const] : [],
  )
  return { ...(Object.fromEntries(numbers) as unknown as KilledAgentsSums), faults: [...a.faults, ...b.faults] }
}
