/** Every example that is killed in the middle goes on there: nothing that was done is done again. Needs a build. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { expect, test, type TestContext } from 'vitest'
import type { RunDetail, StepView } from '@reprise/workflow/internal'
import type { TaskRecord } from 'reprise/durable'
import { findFences } from '../docs/fences.js'
import { Example, recovered } from './example.js'

const PATIENCE_MS = 120_000
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

/** A program of the example that stays beside it; resolves with its first line. */
async function beside(example: Example, { onTestFinished }: TestContext, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: example.directory, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  return text.toString().trim()
}

/** Examples that end as completed with failures. */
const WITH_FAILURES = new Set(['flaky-tests', 'record-import', 'refactor-with-worktrees'])

async function resumed(example: Example, ...args: string[]): Promise<RunDetail> {
  const { code, stderr } = await example.reprise('resume', 'r1', ...args)
  expect(code, stderr).toBe(WITH_FAILURES.has(example.name) ? 3 : 0)
  await example.isClean()
  return example.show('r1')
}

function stepOf({ steps }: RunDetail, id: string): StepView {
  const step = steps.find((one) => one.id === id)
  if (step === undefined) throw new Error(`There is no step ${id}`)
  return step
}

/** Attempts that came to an end, whichever process made them. */
const outcomes = (step: StepView): string[] =>
  step.history.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'interrupted')

/** Whether so much has become of a step, or more: on a busy machine we may be late. */
async function isPast(example: Example, step: string, past: (task: TaskRecord) => boolean): Promise<boolean> {
  if (!example.has('.reprise/ledger.db')) return false
  const task = await example.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: step }))
  return task !== undefined && past(task)
}

const hasFailed = (example: Example, step: string): Promise<boolean> =>
  isPast(example, step, ({ progress }) => progress.retry.failures > 0)

const hasSucceeded = (example: Example, step: string): Promise<boolean> =>
  isPast(example, step, ({ status }) => status === 'succeeded')

/** Too slow to come to its end before it is killed. */
const SLOW = { PACE: '60' }

test.concurrent(
  'the first run, killed while the oven is out, keeps the orders and opens the breaker all the same',
  async (context) => {
    const example = new Example('first-run', context)
    await example.killed(['run', 'first-run.yaml', '--run-id', 'r1'], () => hasFailed(example, 'heat-the-oven'))
    const run = await resumed(example)
    expect(run).toMatchObject({ state: 'succeeded', resumes: 1 })
    expect(recovered(run.steps)).toEqual(['fetch-orders', 'heat-the-oven', 'deliver'])
    expect(outcomes(stepOf(run, 'fetch-orders'))).toEqual(['failure', 'failure', 'success'])
  },
  PATIENCE_MS,
)

test.concurrent(
  'an import, killed while it waits for page 2, reads page 1 no more and imports once',
  async (context) => {
    const example = new Example('api-import', context)
    example.env = { API_URL: await beside(example, context, 'api.mjs'), API_TOKEN: 'not-a-real-token' }
    await example.killed(RUN, () => hasFailed(example, 'page-2'))
    const run = await resumed(example)
    expect(recovered(run.steps)).toEqual(['page-1', 'page-2', 'import'])
    expect(outcomes(stepOf(run, 'page-1'))).toEqual(['failure', 'failure', 'success'])
    expect(stepOf(run, 'doubles').state).toBe('skipped')
    expect(JSON.parse(example.read('out/report.json'))).toEqual({ import: 'import-1', orders: 12, cents: 12_600 })
  },
  PATIENCE_MS,
)

test.concurrent(
  'a migration, killed while it fills in rows, goes on with those that are left',
  async (context) => {
    const example = new Example('database-migration', context)
    await beside(example, context, 'db.mjs', 'hold', 'out/shop.db', '1')
    example.env = SLOW
    await example.killed(RUN, () => example.said('backfill').includes('100 of 1000'))
    example.env = {}
    const run = await resumed(example)
    expect(stepOf(run, 'migrate').state).toBe('recovered')
    expect(stepOf(run, 'backfill').history.map(({ outcome }) => outcome)).toEqual(['interrupted', 'success'])
    const again = example.read('.reprise/runs/r1/backfill/1.1.2.log')
    expect(again).toMatch(/^200 of 1000/)
    expect(again).toContain('1000 of 1000')
    expect(stepOf(run, 'refuse').state).toBe('skipped')
  },
  PATIENCE_MS,
)

test.concurrent(
  'a deployment, killed half-way, is looked into, and done again because it was not done',
  async (context) => {
    const example = new Example('deploy-verify', context)
    example.env = SLOW
    await example.killed(RUN, () => example.said('deploy', 2).includes('server a'))
    example.env = {}
    expect(example.count('out/history')).toBe(0)
    const run = await resumed(example)
    expect(stepOf(run, 'deploy').state).toBe('recovered')
    expect(example.count('out/history')).toBe(1)
    expect(example.read('out/server-c')).toBe('1.5.0\n')
  },
  PATIENCE_MS,
)

test.concurrent(
  'a deployment that turns out to be done is not done again',
  async (context) => {
    const example = new Example('deploy-verify', context)
    example.env = SLOW
    await example.killed(RUN, () => example.said('deploy', 2).includes('server a'))
    example.env = {}
    for (const server of ['a', 'b', 'c']) example.write(`out/server-${server}`, '1.5.0\n')
    const run = await resumed(example)
    expect(run.state).toBe('succeeded')
    expect(example.count('out/history')).toBe(0)
  },
  PATIENCE_MS,
)

test.concurrent(
  'a deployment that nobody can look into is left to a person',
  async (context) => {
    const example = new Example('deploy-verify', context)
    example.env = SLOW
    await example.killed(RUN, () => example.said('deploy', 2).includes('server a'))
    example.env = {}
    const servers = example.read('servers.sh')
    rmSync(example.path('servers.sh'))
    const asked = await example.reprise('resume', 'r1')
    expect(asked.code).toBe(4)
    expect(asked.stderr).toContain('--rerun deploy')
    example.write('servers.sh', servers)
    await resumed(example, '--rerun', 'deploy')
    expect(example.count('out/history')).toBe(1)
  },
  PATIENCE_MS,
)

test.concurrent(
  'a version that never becomes well is taken back, and the run says so',
  async (context) => {
    const example = new Example('deploy-verify', context)
    const { code, stderr } = await example.reprise(...RUN, '--param', 'version=1.5.0-broken')
    expect(code).toBe(1)
    expect(stderr).toContain('its fallback ran, and ended the run')
    expect(example.read('out/server-a')).toBe('1.4.2\n')
    expect(example.has('out/announcement.txt')).toBe(false)
  },
  PATIENCE_MS,
)

test.concurrent(
  'tests, killed in a wait, have the attempts left that they had, and a mended suite is run alone',
  async (context) => {
    const example = new Example('flaky-tests', context)
    await example.killed(RUN, () => hasFailed(example, 'browser'))
    const run = await resumed(example)
    expect(run.state).toBe('completed_with_failures')
    expect(outcomes(stepOf(run, 'unit'))).toEqual(['success'])
    expect(outcomes(stepOf(run, 'browser'))).toEqual(['failure', 'failure', 'success'])
    expect(outcomes(stepOf(run, 'mail'))).toEqual(['failure'])
    example.write('suite.mjs', example.read('suite.mjs').replace(", failing: 'bounces'", ''))
    expect((await example.reprise('resume', 'r1', '--reset-retries')).code).toBe(0)
    const mended = await example.show('r1')
    expect(outcomes(stepOf(mended, 'mail'))).toEqual(['failure', 'success'])
    expect(outcomes(stepOf(mended, 'browser'))).toHaveLength(3)
  },
  PATIENCE_MS,
)

test.concurrent(
  'prompts, killed after the draft, do not ask for it again',
  async (context) => {
    const example = new Example('claude-pipeline', context)
    example.env = { REPRISE_CLAUDE: './claude-stand-in.mjs' }
    await example.killed(RUN, () => hasSucceeded(example, 'draft'))
    const run = await resumed(example)
    expect(outcomes(stepOf(run, 'draft'))).toEqual(['failure', 'failure', 'success'])
    expect(example.read('out/release-notes.md')).toContain('- export orders as CSV')
  },
  PATIENCE_MS,
)

/** Ids of the records that the map has imported. */
function importedRecords(example: Example): Promise<string[]> {
  return example.ledger(async (ledger) => {
    const tasks = await ledger.list({ scope: 'r1/map', scopeKind: 'run', statuses: ['succeeded'], limit: 1000 })
    return tasks.map(({ id }) => id.slice(id.indexOf('.') + 1))
  })
}

test.concurrent(
  'an import of records, killed among them, imports only those that had not ended, and mended ones are run again',
  async (context) => {
    const example = new Example('record-import', context)
    await example.killed(RUN, () => example.has('out/store/R-0150.json'))
    const before = await importedRecords(example)
    expect(before.length).toBeGreaterThan(100)
    // A record that is imported again would lose this mark.
    for (const id of before) example.write(`out/store/${id}.json`, 'imported before')

    const { map } = stepOf(await resumed(example), 'map')
    expect(map?.counts).toMatchObject({ total: 1000, succeeded: 993, dead: 7, pending: 0 })
    for (const id of before) expect(example.read(`out/store/${id}.json`), id).toBe('imported before')
    expect(readdirSync(example.path('out/store'))).toHaveLength(993)

    const report = (): unknown => JSON.parse(example.read('out/report.json'))
    expect(report()).toMatchObject({ records: 1000, imported: 993 })
    const [, retried, mended] = findFences(example.read('README.md'), 'README.md')
    expect(await example.type(retried?.code ?? '')).toMatchObject({ code: 3 })
    expect(report()).toMatchObject({ records: 1000, imported: 998 })
    expect(await example.type(mended?.code ?? '')).toMatchObject({ code: 3 })
    expect(report()).toMatchObject({ records: 1000, imported: 999, failed: [expect.stringContaining('R-0840')] })
    expect((await example.type('npx reprise dlq list record-import')).said).toContain('No dead letter fits.')
  },
  PATIENCE_MS,
)

test.concurrent(
  'a refactoring, killed among its files, merges each of them once, and a mended one is run again',
  async (context) => {
    const example = new Example('refactor-with-worktrees', context)
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: example.path('out/shop'), encoding: 'utf8' }).trim()
    const merged = (): string[] =>
      git('log', '--branches', '--merges', '--format=%(trailers:key=Reprise-Item,valueonly)')
        .split('\n')
        .filter(Boolean)
    await example.type('sh begin.sh')
    example.env = { PACE: '500' }
    await example.killed(['run', 'out/shop/workflow.yaml', '--run-id', 'r1'], () => merged().length > 0)
    example.env = {}
    const { map } = stepOf(await resumed(example), 'map')
    expect(map?.counts).toMatchObject({ total: 6, succeeded: 5, dead: 1, pending: 0 })
    expect(merged()).toHaveLength(5)
    expect(new Set(merged()).size).toBe(5)
    expect(git('worktree', 'list').split('\n')).toHaveLength(1)
    expect(example.read('out/shop/receipt.txt')).toContain('total 13.09 EUR')
    const [, mended] = findFences(example.read('README.md'), 'README.md')
    const { code, said } = await example.type((mended?.code ?? '').replace('retry refactor-with-worktrees', 'retry r1'))
    expect(code, said).toBe(0)
    expect((await example.show('r1')).state).toBe('succeeded')
  },
  PATIENCE_MS,
)
