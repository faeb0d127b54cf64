/**
 * Programs in turns: in every round each has one, in random order, so that what else the machine does meets all alike.
 * Imports Node and the statistics of the ledger's benchmarks.
 */
import { spawn, type SpawnOptions } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { median, shuffled } from '../ledger/statistics.js'

/** From before it is spawned until it has ended, and what it and all that it waited for took of the processors. */
export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

export type Program = () => Promise<Cost>

/** Medians on the clock; the mean of the processor's time, which the system tells in steps of 10 ms. */
export async function costsInTurns<K extends string>(
  programs: Readonly<Record<K, Program>>,
  rounds: number,
): Promise<Record<K, Cost>> {
  const names = Object.keys(programs) as K[]
  const all = new Map(names.map((name) => [name, [] as Cost[]]))
  for (let round = -1; round < rounds; round++) {
    for (const name of shuffled(names)) {
      const cost = await programs[name]()
      // The first of each reads files that nobody has read before.
      if (round >= 0) all.get(name)?.push(cost)
    }
  }
  const entries = names.map((name) => [name, summary(all.get(name) ?? [])] as const)
  return Object.fromEntries(entries) as Record<K, Cost>
}

function summary(costs: readonly Cost[]): Cost {
  const cpuMs = costs.reduce((sum, cost) => sum + cost.cpuMs, 0) / costs.length
  return { wallMs: median(costs.map(({ wallMs }) => wallMs)), cpuMs }
}

/** Rejects if it fails, with what it said. */
export async function costOf(argv: readonly string[], options: SpawnOptions = {}): Promise<Cost> {
  const [program = '', ...args] = argv
  const beforeMs = childrenCpuMs()
  const startMs = performance.now()
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const wallMs = performance.now() - startMs
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${said}`)
  return { wallMs, cpuMs: childrenCpuMs() - beforeMs }
}

const STAT = '/proc/self/stat'
/** Of Linux, wherever it runs. */
const TICK_MS = 10

/** Of children that have ended; not a number where the system does not tell. */
function childrenCpuMs(): number {
  if (!existsSync(STAT)) return NaN
  const stat = readFileSync(STAT, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}
