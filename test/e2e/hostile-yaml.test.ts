/** Files that are made to break whoever reads them: each is refused or read, in good time, and the process lives. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { HOSTILE_SAMPLES } from './hostile-samples.js'

interface Reading {
  readonly name: string
  readonly said: readonly string[]
}
interface Report {
  readonly results: readonly [readonly Reading[], readonly Reading[]]
  readonly polluted: number | null
}

const PATIENCE_MS = 180_000
const reader = fileURLToPath(new URL('./hostile-reader.ts', import.meta.url))
let report: Report

beforeAll(async () => {
  const args = ['--conditions=reprise-source', '--import', 'tsx', reader]
  // An abort, exit code 134, rejects.
  const options = { cwd: path.dirname(reader), maxBuffer: 64 * 1024 * 1024 }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  report = JSON.parse(stdout) as Report
}, PATIENCE_MS)

test.each(HOSTILE_SAMPLES.map(({ name, said }, index) => ({ name, said, index })))(
  '$name: $said',
  ({ index, said }) => {
    const [first] = report.results
    const messages = first[index]?.said ?? ['was not read']
    if (said === null) expect(messages).toEqual([])
    else expect(messages[0]).toContain(said)
  },
)

test('the same is said of each the second time', () => {
  expect(report.results[1]).toEqual(report.results[0])
})

test('no prototype was reached', () => {
  expect(report.polluted).toBeNull()
})
