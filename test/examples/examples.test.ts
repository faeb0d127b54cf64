/** Every example does what its page says, in a fresh copy, as often as one likes. Needs a build. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, type TestContext } from 'vitest'
import type { JobResult } from '@reprise/jobs'
import { root } from '../workflow/cli-fixture.js'
import { Example, EXAMPLES, recovered } from './example.js'

/** They take up to ten seconds each, more on a busy machine. */
const PATIENCE_MS = 120_000

interface Expected {
  readonly code: number
  readonly recovered: readonly string[]
  /** A file that it writes, and what is in it. */
  readonly file: readonly [file: string, text: string]
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  'api-import': {
    code: 0,
    recovered: ['page-1', 'page-2', 'import'],
    file: ['out/report.json', '"orders": 12'],
  },
  'claude-pipeline': {
    code: 0,
    recovered: ['draft'],
    file: ['out/release-notes.md', '# Orders, exported\n\n- export orders as CSV\n- the basket'],
  },
  'database-migration': {
    code: 0,
    recovered: ['migrate'],
    file: ['out/shop.db', 'SQLite format 3'],
  },
  'deploy-verify': {
    code: 0,
    recovered: ['deploy', 'health'],
    file: ['out/announcement.txt', '1.5.0 is out, after 3 looks\n'],
  },
  'flaky-tests': {
    code: 3,
    recovered: ['browser'],
    file: ['out/report.md', '| browser | 0 | 3 |'],
  },
  'refactor-with-worktrees': {
    code: 3,
    recovered: [],
    file: ['out/shop/receipt.txt', 'total 13.09 EUR'],
  },
  'record-import': {
    code: 3,
    recovered: [],
    file: ['out/report.json', '"imported": 993,'],
  },
}

/** Its page is about a job, not about a run. */
const JOB_EXAMPLE = 'three-datacenters'

test('every example is expected to do something', () => {
  expect(EXAMPLES).toEqual([...Object.keys(EXPECTED), JOB_EXAMPLE].toSorted())
})

for (const time of ['once', 'twice']) {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    const title = `${name} does what its page says, ${time}`
    test.concurrent(title, (context) => tryOut(name, expected, context), PATIENCE_MS)
  }
  test.concurrent(`${JOB_EXAMPLE} loses one and succeeds, ${time}`, tryJob, PATIENCE_MS)
  test.concurrent(`the first run recovers what it can, and ends well, ${time}`, tryFirstRun, PATIENCE_MS)
}

async function tryOut(name: string, expected: Expected, context: TestContext): Promise<void> {
  const example = new Example(name, context)
  const { code, said } = await example.type(example.command())
  expect(code, said).toBe(expected.code)
  expect(recovered((await example.show(example.run())).steps)).toEqual(expected.recovered)
  const [file, text] = expected.file
  expect(example.read(file)).toContain(text)
  expect(example.written().toSorted()).toEqual(['.reprise', 'out'])
}

async function tryJob(context: TestContext): Promise<void> {
  const example = new Example(JOB_EXAMPLE, context)
  const { code, said } = await example.type(example.command())
  expect(code, said).toBe(0)
  expect(said).toContain('ap 0/2 no worker')
  const result = JSON.parse(example.read('out/result.json')) as JobResult
  expect(result).toMatchObject({ reason: 'min_dcs_reached', outcome: 'partial', success: true })
  expect(result).toMatchObject({ completed: ['eu', 'us'], missing: ['ap'], totals: { succeeded: 4, retries: 1 } })
  expect(result.aggregates['latency']).toMatchObject({ value: 310, datacenters: ['eu', 'us'] })
  expect(example.written().toSorted()).toEqual(['.reprise', 'out'])
}

async function tryFirstRun(context: TestContext): Promise<void> {
  const example = new Example('first-run', context)
  const { code, said } = await example.type('npx reprise run first-run.yaml')
  expect(code, said).toBe(0)
  const { steps } = await example.show(example.run())
  expect(steps.map(({ id, state }) => [id, state])).toEqual([
    ['fetch-orders', 'recovered'],
    ['heat-the-oven', 'recovered'],
    ['bake-rolls', 'succeeded'],
    ['wedding-cake', 'skipped'],
    ['print-bills', 'failed'],
    ['print-bills.fallback', 'succeeded'],
    ['deliver', 'recovered'],
  ])
  expect(said).toContain('Breaker oven is open (was closed)')
}

test('every file of the examples is valid', () => {
  const files = readdirSync(path.join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml') && !name.includes('.reprise'))
    .map((name) => `examples/${name}`)
  expect(files.length).toBeGreaterThan(7)
  const bin = path.join(root, 'packages/cli/bin/reprise.js')
  const { status, stderr } = spawnSync(process.execPath, [bin, 'validate', ...files], { cwd: root, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})

test('the page of examples names them all', () => {
  const page = readFileSync(path.join(root, 'examples/README.md'), 'utf8')
  for (const name of EXAMPLES) expect(page).toContain(`(${name}/README.md)`)
})
