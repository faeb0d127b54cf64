/**
 * `npm run storm`: the goals over many seeds. `--runs 500` random scenarios and `--seeds 3` of each other goal, from
 * `--seed N` or a fresh one, which is printed. `--write` puts the figures into RESULTS.md. Exit code 1 if a goal is
 * missed. The work is dealt out to one process per core.
 *
 * `--search` looks for scenarios that break the rule instead: `--runs` of them at random, and from the worst of these by
 * small changes; `--outside` the domain of the rule too. `--write` puts what was found into SEARCH.md.
 * `--journal FILE` keeps the parts that are done, so that the same command goes on after a stop, or with more `--runs`.
 * `--workers N` is the number of processes.
 * Imports the goals and the search.
 */
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Finding, GOALS, holds } from './goals.js'
import { performKept } from './journal.js'
import { type Aftermath, aftermath, judge } from './random-scenarios.js'
import { resultsPage } from './results-page.js'
import { searchAll, type SearchTask, performSearch } from './search-campaign.js'
import { ADAPTIVE, PRESET, RECOMMENDED } from './subjects.js'

interface Task {
  /** A goal, or the name of a subject for random scenarios. */
  readonly name: string
  readonly seeds: readonly number[]
}

type Result = { readonly findings: Finding[] } | { readonly subject: string; readonly runs: Aftermath[] }

const PROGRAM = new URL(import.meta.url)
const SUBJECTS = [RECOMMENDED, PRESET, ADAPTIVE]
const CHUNK = 10

function perform({ name, seeds }: Task): Result {
  const measure = GOALS[name]
  if (measure !== undefined) return { findings: seeds.flatMap((seed) => measure(seed, 'long')) }
  const subject = SUBJECTS.find((one) => one.name === name)
  if (subject === undefined) throw new Error(`There is no goal and no subject ${name}`)
  return { subject: name, runs: seeds.map((seed) => aftermath(subject, seed, 'long')) }
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
      search: { type: 'boolean', default: false },
      outside: { type: 'boolean', default: false },
      journal: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
    },
  })
  const given = [values.runs, values.seeds, values.seed, values.workers].map(Number)
  if (!given.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new Error('--runs, --seeds, --seed and --workers are whole numbers')
  }
  const [runs, seeds, seed, workers] = given as [number, number, number, number]
  if (values.search) {
    const domain = values.outside ? 'outside' : 'inside'
    const { page, broken } = await searchAll(PROGRAM, { domain, runs, seed, workers, journal: values.journal })
    console.log(page)
    if (values.write) writeFileSync(new URL('SEARCH.md', import.meta.url), page)
    if (broken) process.exitCode = 1
    return
  }
  console.log(`seed ${seed}, ${runs} random scenarios, ${seeds} seeds of each other goal`)
  const partOf = (task: Task): string => `${task.name} ${task.seeds.join(' ')}`
  const measurement = { program: PROGRAM, name: `goals from ${seed}`, partOf, workers, journal: values.journal }
  const findings = findingsOf(await performKept<Task, Result>(measurement, tasksFor(seed, runs, seeds)))
  const page = resultsPage(findings, { seed, runs, seeds })
  console.log(page)
  if (values.write) writeFileSync(new URL('RESULTS.md', import.meta.url), page)
  if (!findings.every(holds)) process.exitCode = 1
}

if (process.argv.includes('--child')) {
  process.on('message', (task: Task | SearchTask) =>
    process.send?.('domain' in task ? performSearch(task) : perform(task)),
  )
} else {
  await main()
}
