/** How long `resume()` takes where very many tasks wait. Imports Node and the bundler's place. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Line, linesTable } from '../ledger/report.js'
import { OUT } from './build.mjs'
import type { Place } from './place.js'

const run = promisify(execFile)

const MOST_S: Readonly<Record<number, number>> = { 100_000: 0.5, 1_000_000: 2 }
const KINDS = { retries: 'waiting tasks', fresh: 'fresh tasks' } as const

export async function measureResume(place: Place, counts: readonly number[], rounds: number): Promise<string> {
  const lines: Line[] = []
  for (const count of counts) {
    for (const [kind, what] of Object.entries(KINDS)) {
      const args = (url: string): string[] => [`${OUT}resume-child.js`, url, kind, String(count), String(rounds)]
      const { stdout } = await place.inDatabase((url) => run(process.execPath, args(url)))
      const { resumeMs, rssMb } = JSON.parse(stdout) as { resumeMs: number; rssMb: number }
      const goal = MOST_S[count]
      const most = goal === undefined ? {} : { most: { goal } }
      lines.push(
        { what: `${count} ${what}: resume()`, value: resumeMs / 1000, unit: 's', ...most },
        { what: `${count} ${what}: memory, at most`, value: rssMb, unit: 'MB', most: { goal: 300 } },
      )
      console.error(`resume: ${count} ${what} measured`)
    }
  }
  return linesTable(lines)
}
