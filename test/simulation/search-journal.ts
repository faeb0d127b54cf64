/**
 * Parts of a search that are done, a line of JSON each, so that a search that was stopped goes on where it was. The
 * first line says what was searched and with which code: parts of two versions of the budget are never added up.
 * Imports Node only.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

const ROOT = new URL('../../', import.meta.url)
/** What decides the figures. */
const CODE = ['packages/reprise/src/core/', 'packages/reprise/src/simulate/', 'test/simulation/']

export class SearchJournal<Result> {
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
      throw new Error(`${file} is of another search or of other code: remove it, or name another file`)
    for (const line of lines) this.read(line)
  }

  get(part: string): Result | undefined {
    return this.done.get(part)
  }

  add(part: string, result: Result): void {
    this.done.set(part, result)
    appendFileSync(this.file, `\n${JSON.stringify({ part, result })}`)
  }

  /** A line that was cut when the search was stopped is a part to do again. */
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
