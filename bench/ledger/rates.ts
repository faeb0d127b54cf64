/**
 * Steps and attempts per second, floor and library in turns of one process: each turn has a new file, a warm-up on
 * another one, and the order of turns is random. Imports floor and library.
 */
import { Floor } from './floor.js'
import { Library } from './library.js'
import type { Operation, Program } from './program.js'
import { inNewDirectory } from './scratch.js'
import { median, shuffled } from './statistics.js'

export interface Workload {
  readonly title: string
  readonly width: number
  /** Tasks of a turn, on a disk that syncs in half a millisecond. */
  readonly count: number
  /** What is counted, for each task. */
  readonly perTask: number
  readonly way: 'steps' | 'queued'
  readonly operation: Operation
  readonly goal: number
  readonly stretch: number
}

const succeeds: Operation = async (input) => input
const FAILURE = new Error('refused')
const fails: Operation = async () => {
  throw FAILURE
}
const SUCCEEDS = { perTask: 1, way: 'steps', operation: succeeds } as const
const FAILS = { perTask: 4, way: 'steps', operation: fails, goal: 0.3, stretch: 0.4 } as const

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  sequential: {
    title: 'Durable steps, one after the other',
    width: 1,
    count: 1000,
    ...SUCCEEDS,
    goal: 0.6,
    stretch: 0.8,
  },
  fifty: { title: 'Durable steps, 50 at once', width: 50, count: 10_000, ...SUCCEEDS, goal: 0.3, stretch: 0.5 },
  failing10: { title: 'Failing tasks, 3 retries, 10 at once: attempts', width: 10, count: 1000, ...FAILS },
  failing100: { title: 'Failing tasks, 3 retries, 100 at once: attempts', width: 100, count: 4000, ...FAILS },
  run100: {
    title: 'Short tasks done, 100 at once, each awaited',
    width: 100,
    count: 15_000,
    ...SUCCEEDS,
    goal: 0.3,
    stretch: 0.6,
  },
  queued100: {
    title: 'Short tasks done, 100 at once, recorded first and done by a worker',
    width: 100,
    count: 15_000,
    ...SUCCEEDS,
    way: 'queued',
    goal: 0.3,
    stretch: 0.6,
  },
}

/** Of a program that says nothing. */
const DEFAULT_CONCURRENCY = 50

/** Per second on the clock, and microseconds of CPU time each. */
export interface Rates {
  readonly floorRate: number
  readonly libraryRate: number
  readonly floorCpuUs: number
  readonly libraryCpuUs: number
  /** Median over rounds of the ratio within a round: the disk of one moment is not that of another. */
  readonly ratio: number
}

interface Turn {
  readonly rate: number
  readonly cpuUs: number
}

export async function measureRates(id: string, rounds: number, scale: number): Promise<Rates> {
  const workload = WORKLOADS[id]
  if (workload === undefined) throw new Error(`There is no workload ${id}`)
  const programs = {
    floor: (file: string): Promise<Program> => Floor.open(file),
    library: (file: string): Promise<Program> => Library.open(file, Math.max(DEFAULT_CONCURRENCY, workload.width)),
  }
  const turns: Record<keyof typeof programs, Turn[]> = { floor: [], library: [] }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(['floor', 'library'] as const)) {
      await inTurn(workload, programs[name], Math.ceil((workload.count * scale) / 4))
      turns[name].push(await inTurn(workload, programs[name], Math.ceil(workload.count * scale)))
    }
    ratios.push((turns.library.at(-1)?.rate ?? NaN) / (turns.floor.at(-1)?.rate ?? NaN))
  }
  const of = (name: keyof typeof programs, what: keyof Turn): number => median(turns[name].map((turn) => turn[what]))
  return {
    floorRate: of('floor', 'rate'),
    libraryRate: of('library', 'rate'),
    floorCpuUs: of('floor', 'cpuUs'),
    libraryCpuUs: of('library', 'cpuUs'),
    ratio: median(ratios),
  }
}

function inTurn(workload: Workload, open: (file: string) => Promise<Program>, count: number): Promise<Turn> {
  return inNewDirectory(async (directory) => {
    const program = await open(`${directory}/ledger`)
    const before = process.cpuUsage()
    const startMs = performance.now()
    await program[workload.way](count, workload.width, workload.operation)
    const seconds = (performance.now() - startMs) / 1000
    const { user, system } = process.cpuUsage(before)
    await program.close()
    const counted = count * workload.perTask
    return { rate: counted / seconds, cpuUs: (user + system) / counted }
  })
}
