/**
 * No command reads all tasks of a run unless it prints them. The command line runs within this process over a real SQLite
 * file, and the driver counts every row that comes to JavaScript. A run has thousands of steps, of which a third recovered
 * and a third was skipped, another one a map with many items, and a program has thousands of dead letters.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type AttemptRow, type DeadLetter, openLedger, type RunRecord, type TaskRecord } from 'reprise/durable'
import type * as Driver from '../../packages/reprise/src/sqlite/driver.js'
import { sampleAttempt } from '../../packages/reprise/src/testing/sample-history.js'
import { sampleTask } from '../../packages/reprise/src/testing/sample-task.js'
import { fingerprintOf } from '../../packages/workflow/src/plan/build-plan.js'
import { CliFixture } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'

const counted = vi.hoisted(() => ({ rows: 0 }))

vi.mock('../../packages/reprise/src/sqlite/driver.js', async (load) => {
  const driver = await load<typeof Driver>()
  const openDatabase: typeof driver.openDatabase = async (...given) => {
    const database = await driver.openDatabase(...given)
    return {
      driver: database.driver,
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      abandon: () => database.abandon(),
      prepare: (sql) => {
        const statement = database.prepare(sql)
        const count = <T>(found: T): T => {
          counted.rows += Array.isArray(found) ? found.length : found === undefined ? 0 : 1
          return found
        }
        return {
          run: (...values) => statement.run(...values),
          get: (...values) => count(statement.get(...values)),
          all: (...values) => count(statement.all(...values)),
        }
      },
    }
  }
  return { ...driver, openDatabase }
})

const STEPS = 3000
const ITEMS = 1000
const LETTERS = 3000
/** Rows beside those that are printed: owners, policies, a page that is looked through. Far fewer than there are steps. */
const SPARE = 500
const HOUR_MS = 3_600_000

let cli: CliFixture
const startMs = Date.now() - HOUR_MS

const RUN: RunRecord = {
  ...{ id: 'large', kind: 'workflow', name: 'large', status: 'interrupted', owner: null, fence: 1, resumes: 0 },
  ...{ fingerprint: '', correlationId: randomUUID(), createdAtMs: startMs, updatedAtMs: startMs, endedAtMs: null },
  detail: null,
}

/** Every third step succeeded at once, recovered, or was skipped. */
function stepOf(
  index: number,
  scope = 'large',
): { readonly task: TaskRecord; readonly attempts: readonly AttemptRow[] } {
  const key = { scopeKind: 'run', scope, id: `s${index}` } as const
  const launched = [1, 2, 0][index % 3] ?? 0
  const { progress } = sampleTask()
  const retry = { ...progress.retry, launched, failures: Math.max(0, launched - 1) }
  const atMs = startMs + index
  const task = sampleTask({
    ...{ ...key, queue: `${scope}/${key.id}`, status: 'succeeded', dueAtMs: null, input: null },
    ...{ progress: { ...progress, retry }, createdAtMs: atMs, updatedAtMs: atMs },
    result: { exit_code: 0, attempts: launched, ...(launched === 0 && { skipped: 'when: false' }) },
  })
  const times = { startedAtMs: atMs, endedAtMs: atMs }
  const last = sampleAttempt(key, { attempt: launched, outcome: 'success', ...times })
  return { task, attempts: [...(launched === 2 ? [sampleAttempt(key, times)] : []), last].slice(0, launched) }
}

function letterOf(index: number): { readonly task: TaskRecord; readonly letter: DeadLetter } {
  const task = sampleTask({ scope: 'charge', id: `l${index}`, queue: 'charge', status: 'failed', dueAtMs: null })
  const { scopeKind, scope, id } = task
  const failure = { name: 'Error', message: `no route ${index % 3}` }
  const about = { generation: 1, atMs: startMs + index, signature: `Error: no route ${'abc'[index % 3]}` }
  return { task, letter: { scopeKind, scope, id, ...about, stopReason: 'attempts_exhausted', failure } }
}

async function fill(store: string): Promise<void> {
  const ledger = await openLedger(store)
  const policy = { hash: 'p1', policy: { attempts: 3 } }
  const done = Array.from({ length: STEPS }, (_, index) => ({ id: `s${index}`, run: ['true'] }))
  const document = { name: 'large', steps: [...done, { id: 'last', run: ['true'] }] }
  const places = { file: null, cwd: process.cwd(), documentDir: process.cwd(), params: {} }
  const detail = { ...places, stopReason: null, failedStep: null, steps: STEPS + 1, isInOrder: true }
  const run = { ...RUN, fingerprint: fingerprintOf(document), detail }
  await ledger.transact({ tasks: [], runs: ['large'] }, () => ({ runs: [{ run, definition: document }], result: null }))
  const steps = Array.from({ length: STEPS }, (_, index) => stepOf(index))
  const letters = Array.from({ length: LETTERS }, (_, index) => letterOf(index))
  const tasks = [...steps, ...letters].map(({ task }) => task)
  await ledger.create(tasks.map((task) => ({ task, policy, payloadHash: '' })))
  const attempts = steps.flatMap((step) => step.attempts)
  await ledger.transact({ tasks }, () => ({ attempts, dead: letters.map(({ letter }) => letter), result: null }))
  await ledger.close()
}

/** Killed when a step had failed after very many, and before another one: its `on_failure` has ended, `finally` has not begun. */
async function fillHandled(store: string): Promise<void> {
  const ledger = await openLedger(store)
  const done = Array.from({ length: STEPS }, (_, index) => ({ id: `s${index}`, run: ['true'] }))
  const named = 'echo "${steps.s7.attempts} ${steps.s8.attempts} ${run.failed_step} [${steps.never.exit_code}]"'
  const document = {
    name: 'handled',
    steps: [...done, { id: 'bad', run: ['false'] }, { id: 'never', run: ['true'] }],
    on_failure: [{ id: 'tell', run: ['true'] }],
    finally: [{ id: 'clean', shell: named }],
  }
  const places = { file: null, cwd: process.cwd(), documentDir: process.cwd(), params: {} }
  const ending = { state: 'failed', stopReason: 'attempts_exhausted', failedStep: 'bad' }
  const detail = { ...places, stopReason: null, failedStep: null, steps: STEPS + 4, isInOrder: true, ending }
  const run = { ...RUN, id: 'handled', name: 'handled', fingerprint: fingerprintOf(document), detail }
  await ledger.transact({ tasks: [], runs: [run.id] }, () => ({ runs: [{ run, definition: document }], result: null }))
  const { task } = stepOf(0, run.id)
  const bad = { ...task, id: 'bad', queue: 'handled/bad', status: 'failed', stopReason: 'attempts_exhausted' } as const
  const steps = Array.from({ length: STEPS }, (_, index) => stepOf(index, run.id).task)
  const tasks = [...steps, { ...bad, result: null }, { ...task, id: 'tell', queue: 'handled/tell' }]
  const policy = { hash: 'p1', policy: { attempts: 3 } }
  await ledger.create(tasks.map((one) => ({ task: one, policy, payloadHash: '' })))
  await ledger.close()
}

const MAP = `
steps:
  - id: load
    map:
      input: { range: [1, ${ITEMS}] }
      agent_template: [{ when: "false", run: ["true"] }]
`

beforeAll(async () => {
  cli = new CliFixture(MAP)
  mkdirSync(cli.path('.reprise'), { recursive: true })
  await fill(cli.store)
  await fillHandled(cli.store)
  const { code, stderr } = await repriseInProcess(cli, 'run', cli.path('workflow.yaml'), '--run-id', 'mapped')
  expect({ code, stderr }).toMatchObject({ code: 0 })
}, 120_000)
afterAll(() => cli.remove())

interface Read {
  readonly rows: number
  readonly lines: number
  readonly text: string
}

async function read(...args: string[]): Promise<Read> {
  return readUntil(0, ...args)
}

async function readUntil(exitCode: number, ...args: string[]): Promise<Read> {
  counted.rows = 0
  const { code, stdout, stderr } = await repriseInProcess(cli, ...args)
  expect({ code, stderr }).toMatchObject({ code: exitCode })
  const text = stdout + stderr
  return { rows: counted.rows, lines: text.split('\n').length, text }
}

describe('a command reads no more rows than it prints:', () => {
  test.each([
    ['ps'],
    ['ps', '--retrying'],
    ['show', 'large'],
    ['show', 'large', 's7'],
    ['logs', 'large', 's7'],
    ['watch', 'large'],
    ['resume', 'large', '--dry-run'],
    ['show', 'mapped'],
    ['show', 'mapped', 'load'],
    ['watch', 'mapped'],
    ['events', 'mapped'],
    ['dlq', 'list'],
    ['dlq', 'list', '--limit', '5'],
    ['dlq', 'groups'],
    ['dlq', 'groups', '--name', 'charge'],
    ['dlq', 'stats'],
    ['dlq', 'show', 'charge/l7'],
    ['dlq', 'purge', '--dry-run'],
    ['store', 'status'],
  ])('%s %s %s %s', async (...args) => {
    const { rows, lines } = await read(...args.filter((one) => one !== undefined))
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThanOrEqual(lines + SPARE)
  })

  test('show of a run with more than 1000 steps lists what people look for, and counts the others', async () => {
    const { text } = await read('show', 'large')
    expect(text).toContain(`${STEPS / 3} recovered, ${STEPS / 3} skipped, 1 pending`)
    const listed = text.split('\n').filter((line) => /^ {2}s\d+ /.test(line))
    expect(listed).toHaveLength(200)
    for (const line of listed) expect(line).toContain('recovered')
    expect(text).toContain(`  ${STEPS + 1 - 200} more steps not listed\n  all steps: reprise show large --all`)
  })

  test('show RUN --all prints every step, and reads each of them and each attempt once', async () => {
    const { rows, lines } = await read('show', 'large', '--all')
    expect(lines).toBeGreaterThan(STEPS)
    expect(rows).toBeLessThanOrEqual(STEPS + STEPS + SPARE)
  })

  test('show RUN --json has every step, in the order of the plan and with its attempts', async () => {
    const { rows, text } = await read('show', 'large', '--json')
    const { steps, unlisted } = JSON.parse(text) as { steps: { id: string; history: unknown[] }[]; unlisted?: number }
    expect(steps.map(({ id }) => id)).toEqual([...Array.from({ length: STEPS }, (_, index) => `s${index}`), 'last'])
    expect(steps.slice(0, 4).map(({ history }) => history.length)).toEqual([1, 2, 0, 1])
    expect(unlisted).toBeUndefined()
    expect(rows).toBeLessThanOrEqual(STEPS + STEPS + SPARE)
  })

  test('events prints what happened to every step, page by page, and reads nothing twice', async () => {
    const { rows, lines } = await read('events', 'large', '--ndjson')
    expect(lines).toBeGreaterThan(2 * STEPS)
    expect(rows).toBeLessThanOrEqual(lines + SPARE)
  })

  test('watch --ndjson prints the state of every step at the start', async () => {
    const { rows, text } = await read('watch', 'large', '--ndjson')
    const state = text.split('\n').find((line) => line.includes('"run_state"')) ?? '{}'
    const { steps, counts } = (JSON.parse(state) as { detail: Record<string, unknown> }).detail
    expect(steps).toHaveLength(STEPS + 1)
    expect(counts).toEqual({ succeeded: STEPS / 3, recovered: STEPS / 3, skipped: STEPS / 3, pending: 1 })
    expect(rows).toBeLessThanOrEqual(STEPS + SPARE)
  })

  test('resume conducts the step that is left, and tells how it ended', { timeout: 60_000 }, async () => {
    const { rows, lines, text } = await read('resume', 'large')
    expect(text).toContain(`${STEPS} of ${STEPS + 1} steps done`)
    expect(text).toMatch(/succeeded: large, run large/)
    expect(text).toContain(`… and ${STEPS / 3 - 20} more`)
    expect(rows).toBeLessThanOrEqual(lines + SPARE)
  })
  test('resume in `finally` reads the results that its steps name', { timeout: 60_000 }, async () => {
    const { rows, lines } = await readUntil(1, 'resume', 'handled')
    expect(rows).toBeLessThanOrEqual(lines + SPARE)
    expect((await read('logs', 'handled', 'clean')).text).toContain('2 0 bad []')
  })
})
