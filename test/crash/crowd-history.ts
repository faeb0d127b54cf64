/**
 * What holds of many tasks of the load together: no more of them ran at once than their queue allows, and their group and
 * their tally count each of them once. Imports the ledger's types, the histories and the plan.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { countedTally, tallyOf } from '../durable/tally-group.js'
import { GROUP, KINDS, type Kind, TALLY } from './load-plan.js'
import { CLOCK_TOLERANCE_MS, historiesOf, scopeOfTasks } from './task-history.js'

/** At every start, the attempts of the queue that had started and not ended, this one included. */
export async function crowdFaults(
  ledger: Ledger,
  { name, most = Infinity }: Pick<Kind, 'name' | 'most'>,
): Promise<string[]> {
  if (most === Infinity) return []
  const spans = (await historiesOf(ledger, scopeOfTasks(name), [])).flatMap(({ task, rows }) => {
    const { current } = task.progress
    const ended = rows.map(({ startedAtMs, endedAtMs }) => ({ fromMs: startedAtMs, toMs: endedAtMs }))
    if (task.status !== 'running' || current === null) return ended
    return [...ended, { fromMs: current.startedAtMs, toMs: Infinity }]
  })
  const peak = spans.reduce((highest, { fromMs }) => {
    const atOnce = spans.filter((one) => one.fromMs <= fromMs && one.toMs > fromMs + CLOCK_TOLERANCE_MS)
    return Math.max(highest, atOnce.length)
  }, 0)
  return peak > most ? [`queue ${name}: ${peak} attempts ran at once, of ${most} allowed`] : []
}

/** Tasks that were not recorded yet count as fresh in the group. */
export async function groupFaults(ledger: Ledger): Promise<string[]> {
  const { name = '' } = KINDS.find(({ isGrouped }) => isGrouped) ?? {}
  if ((await ledger.run(GROUP)) === undefined) return []
  const { fresh: _fresh, ...counted } = await countedTally(ledger, name)
  const { fresh: _left, ...group } = await tallyOf(ledger, GROUP)
  const { fresh: _new, total: _total, ...tally } = await ledger.tally(TALLY)
  const said = JSON.stringify(counted)
  return [
    ...(JSON.stringify(sorted(group)) === JSON.stringify(sorted(counted))
      ? []
      : [`the group counts ${JSON.stringify(group)} of ${said}`]),
    ...(JSON.stringify(sorted(tally)) === JSON.stringify(sorted(counted))
      ? []
      : [`the tally counts ${JSON.stringify(tally)} of ${said}`]),
  ]
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
