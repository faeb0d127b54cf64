/**
 * `npm run storm`: the goals over many seeds. `--runs 500` random scenarios and `--seeds 3` of each other goal, from
 * `--seed N` or a fresh one, which is printed. `--write` puts the figures into RESULTS.md. Exit code 1 if a goal is
 * missed. The work is dealt out to one process per core. Imports the goals.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Finding, GOALS, holds } from './goals.js'
import { type Aftermath, aftermath, judge } from './random-scenarios.js'
import { resultsPage } from './results-page.js'
import { ADAPTIVE, PRESET, RECOMMENDED } from './subjects.js'

interface Task {
  /** A goal, or the name of a subject for random scenarios. */
  readonly name: string
  readonly seeds: readonly number[]
}

type Result = { readonly findings: Finding[] } | { readonly subject: string; readonly runs: Aftermath[] }

const SUBJECTS = [RECOMMENDED, PRESET, ADAPTIVE]
const CHUNK = 10

function perform({ name, seeds }: Task): Result {
  const measure = GOALS[name]
  if (measure !== undefined) return { findings: seeds.flatMap((seed) => measure(seed)) }
  const subject = SUBJECTS.find((one) => one.name === name)
  if (subject === undefined) throw new Error(`There is no goal and no subject ${name}`)
  return { subject: name, runs: seeds.map((seed) => aftermath(subject, seed)) }
}

function tasksFor(first: number, runs: number, seeds: number): Task[] {
  const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)
  const goals = Object.keys(GOALS).flatMap((name) => range(first, seeds).map((seed) => ({ name, seeds: [seed] })))
  const random = SUBJECTS.flatMap(({ name }) =>
    range(0, Math.ceil(runs / CHUNK)).map((chunk) => ({
      name,
      seeds: range(first + chunk * CHUNK, Math.min(CHUNK, runs - chunk * CHUNK)),
    })),
  )
  return [...goals, ...random]
}

/** Deals the tasks out, the next to whoever is ready. */
async function performAll(tasks: readonly Task[]): Promise<Result[]> {
  const left = [...tasks]
  const results: Result[] = []
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child: ChildProcess = fork(new URL(import.meta.url), ['--child'])
      const next = (): void => {
        const task = left.shift()
        if (task === undefined) child.disconnect()
        else child.send(task)
      }
      child.on('message', (result: Result) => {
        results.push(result)
        if (process.stderr.isTTY) process.stderr.write(`\r${results.length} of ${tasks.length} parts done`)
        next()
      })
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A part ended with code ${code}`))))
      next()
    })
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  if (process.stderr.isTTY) process.stderr.write('\n')
  return results
}

function findingsOf(results: readonly Result[]): Finding[] {
  const direct = results.flatMap((result) => ('findings' in result ? result.findings : []))
  const random = SUBJECTS.flatMap((subject) => {
    const runs = results.flatMap((result) => ('runs' in result && result.subject === subject.name ? result.runs : []))
    for (const run of runs) {
      if (run.recoveryMs === null || (run.after < 0.97 && subject !== ADAPTIVE)) console.log(JSON.stringify(run))
    }
    return runs.length === 0 ? [] : judge(subject.name, runs, subject !== ADAPTIVE)
  })
  return [...direct, ...random].toSorted((a, b) => a.goal.localeCompare(b.goal))
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '500' },
      seeds: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      write: { type: 'boolean', default: false },
    },
  })
  const [runs, seeds, seed] = [values.runs, values.seeds, values.seed].map(Number) as [number, number, number]
  if (![runs, seeds, seed].every(Number.isSafeInteger)) throw new Error('--runs, --seeds and --seed are whole numbers')
  console.log(`seed ${seed}, ${runs} random scenarios, ${seeds} seeds of each other goal`)
  const findings = findingsOf(await performAll(tasksFor(seed, runs, seeds)))
  const page = resultsPage(findings, { seed, runs, seeds })
  console.log(page)
  if (values.write) writeFileSync(new URL('RESULTS.md', import.meta.url), page)
  if (!findings.every(holds)) process.exitCode = 1
}

if (process.argv.includes('--child')) {
  process.on('message', (task: Task) => process.send?.(perform(task)))
} else {
  await main()
}
