/**
 * Parts of a measurement that are done, a line of JSON each, so that one that was stopped goes on where it was. The
 * first line says what was measured and with which code: parts of two versions of the budget are never added up.
 * Imports the pool of processes.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { performAll } from './work-pool.js'

const ROOT = new URL('../../', import.meta.url)
/** What decides the figures. */
const CODE = ['packages/reprise/src/core/', 'packages/reprise/src/simulate/', 'test/simulation/']

/** How a measurement is done, and what it is: two of one name never differ in what they measure. */
export interface Measurement<Task> {
  readonly program: URL
  readonly name: string
  readonly partOf: (task: Task) => string
  /** Processes at a time. */
  readonly workers: number
  /** A file for the parts that are done. */
  readonly journal: string | undefined
}

/** The parts that the journal does not have yet are run; the order is always that of the tasks. */
export async function performKept<Task extends object, Result>(
  { program, name, partOf, workers, journal: file }: Measurement<Task>,
  tasks: readonly Task[],
): Promise<readonly Result[]> {
  const journal = file === undefined ? undefined : new Journal<Result>(file, name)
  const done = new Map<Task, Result>()
  for (const task of tasks) {
    const result = journal?.get(partOf(task))
    if (result !== undefined) done.set(task, result)
  }
  const left = tasks.filter((task) => !done.has(task))
  await performAll<Task, Result>(program, left, workers, (task, result) => {
    done.set(task, result)
    journal?.add(partOf(task), result)
  })
  return tasks.map((task) => done.get(task) as Result)
}

class Journal<Result> {
  private readonly file: string
  private readonly done = new Map<string, Result>()

  constructor(file: string, what: string) {
    this.file = file
    const head = JSON.stringify({ what, code: codeHash() })
    if (!existsSync(file)) {
      writeFileSync(file, `${head}\n`)
      return
    }
    const [first, ...lines] = readFileSync(file, 'utf8').split('\n')
    if (first !== head)
      throw new Error(`${file} is of another measurement or of other code: remove it, or name another file`)
    for (const line of lines) this.read(line)
  }

  get(part: string): Result | undefined {
    return this.done.get(part)
  }

  add(part: string, result: Result): void {
    this.done.set(part, result)
    appendFileSync(this.file, `\n${JSON.stringify({ part, result })}`)
  }

  /** A line that was cut when the measurement was stopped is a part to do again. */
  private read(line: string): void {
    try {
      const { part, result } = JSON.parse(line) as { part: string; result: Result }
      this.done.set(part, result)
    } catch {
      return
    }
  }
}

function codeHash(): string {
  const hash = createHash('sha256')
  for (const directory of CODE) {
    const names = readdirSync(new URL(directory, ROOT), { recursive: true, encoding: 'utf8' })
    const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).toSorted()
    for (const name of sources) hash.update(`${name}\n`).update(readFileSync(new URL(directory + name, ROOT)))
  }
  return hash.digest('hex').slice(0, 16)
}
