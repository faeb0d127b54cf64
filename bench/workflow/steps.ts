/**
 * A thousand steps that do next to nothing, conducted by the workflow package, in turns with what somebody would write by
 * hand over the same driver: as many commits, and as many processes. Imports the workflow package and the ledger's floor.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { planFromDocument } from '../../packages/workflow/src/plan/plan-of.js'
import { loadReaders } from '../../packages/workflow/src/values/readers.js'
import { startRun } from '../../packages/workflow/src/run/start-run.js'
import type { Plan } from '../../packages/workflow/src/plan/plan.js'
import { Floor } from '../ledger/floor.js'
import { inNewDirectory } from '../ledger/scratch.js'
import { median, shuffled } from '../ledger/statistics.js'
import { SingleCommits } from './single-commits.js'

export interface StepKind {
  readonly title: string
  readonly step: object
  readonly floor: string
  readonly goal: number
  /** The steps by hand, in a new file. */
  readonly byHand: (file: string, count: number) => Promise<Timed>
}

interface Timed {
  readonly seconds: number
  readonly cpuUs: number
}

export const STEP_KINDS: Readonly<Record<string, StepKind>> = {
  script: {
    title: '`script:`, a function of a module',
    step: { script: './nothing.mjs' },
    floor: 'two commits each',
    goal: 0.3,
    byHand: (file, count) => withFloor(file, count, async (input) => input),
  },
  run: {
    title: '`run: ["true"]`',
    step: { run: ['true'] },
    floor: 'two commits and a spawned process each',
    goal: 0.5,
    byHand: (file, count) =>
      withFloor(file, count, async (input) => {
        await spawnTrue()
        return input
      }),
  },
  skipped: {
    title: '`when: "false"`, skipped',
    step: { run: ['true'], when: 'false' },
    floor: 'one commit each',
    goal: 0.6,
    byHand: async (file, count) => {
      const commits = await SingleCommits.open(file)
      const timed = await timedOf(() => commits.insert(count))
      commits.close()
      return timed
    },
  },
}

export interface StepRates {
  readonly rate: number
  readonly floorRate: number
  readonly ratio: number
  readonly cpuUs: number
  readonly floorCpuUs: number
  /** Processes spawned and waited for, one after the other, and nothing else; null where none are. */
  readonly spawnRate: number | null
}

export async function measureSteps(id: string, rounds: number, count: number): Promise<StepRates> {
  const kind = STEP_KINDS[id]
  if (kind === undefined) throw new Error(`There is no kind of step ${id}`)
  const turns = {
    library: (directory: string, steps: number) => conducted(kind, directory, steps),
    floor: (directory: string, steps: number) => kind.byHand(path.join(directory, 'ledger'), steps),
    spawns: (_directory: string, steps: number) => timedOf(() => spawned(id === 'run' ? steps : 1)),
  }
  const names = Object.keys(turns) as (keyof typeof turns)[]
  const all: Record<keyof typeof turns, Timed[]> = { library: [], floor: [], spawns: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(names)) {
      await inNewDirectory((directory) => turns[name](directory, Math.ceil(count / 10)))
      all[name].push(await inNewDirectory((directory) => turns[name](directory, count)))
    }
  }
  const seconds = (name: keyof typeof turns): number => median(all[name].map((one) => one.seconds))
  const cpuUs = (name: keyof typeof turns): number => median(all[name].map((one) => one.cpuUs)) / count
  const ratios = all.library.map((one, round) => (all.floor[round]?.seconds ?? NaN) / one.seconds)
  return {
    rate: count / seconds('library'),
    floorRate: count / seconds('floor'),
    ratio: median(ratios),
    cpuUs: cpuUs('library'),
    floorCpuUs: cpuUs('floor'),
    spawnRate: id === 'run' ? count / seconds('spawns') : null,
  }
}

/** From the first step to the commit of the run's end: opening and closing the store are not steps. */
async function conducted(kind: StepKind, directory: string, count: number): Promise<Timed> {
  writeFileSync(path.join(directory, 'nothing.mjs'), 'export default () => null\n')
  const steps = Array.from({ length: count }, (_, i) => ({ id: `step-${i}`, ...kind.step }))
  const plan = await planOfSteps(steps)
  let [begun, ended]: Mark[] = []
  const end = await startRun(
    plan,
    { runId: 'thousand', cwd: directory, documentDir: directory, params: {} },
    {
      store: `sqlite:${path.join(directory, 'ledger')}`,
      stateDirectory: path.join(directory, 'state'),
      env: { PATH: process.env['PATH'] ?? '' },
      listener: ({ type }) => {
        if (type === 'run_started') begun = markNow()
        if (type === 'run_finished') ended = markNow()
      },
    },
  )
  if (end.state !== 'succeeded' || begun === undefined || ended === undefined) throw new Error(`The run ${end.state}`)
  return between(begun, ended)
}

async function planOfSteps(steps: readonly object[]): Promise<Plan> {
  const document = { name: 'thousand', steps } as never
  return planFromDocument(document, null, await loadReaders(() => false, JSON.stringify(document)))
}

async function withFloor(file: string, count: number, operation: (input: number) => Promise<number>): Promise<Timed> {
  const floor = await Floor.open(file)
  const timed = await timedOf(() => floor.steps(count, 1, operation))
  await floor.close()
  return timed
}

async function spawned(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await spawnTrue()
}

/** As a program would that wants to hear what it says. */
function spawnTrue(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}

interface Mark {
  readonly atMs: number
  readonly cpu: NodeJS.CpuUsage
}

function markNow(): Mark {
  return { atMs: performance.now(), cpu: process.cpuUsage() }
}

function between(from: Mark, to: Mark): Timed {
  const cpuUs = to.cpu.user + to.cpu.system - from.cpu.user - from.cpu.system
  return { seconds: (to.atMs - from.atMs) / 1000, cpuUs }
}

async function timedOf(act: () => Promise<void>): Promise<Timed> {
  const from = markNow()
  await act()
  return between(from, markNow())
}
