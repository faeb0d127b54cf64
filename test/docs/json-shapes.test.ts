/** Every command prints with `--json` exactly the keys that docs/json.md lists. Needs a build. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { openDurable } from 'reprise/durable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandEntry, isThere } from '../../packages/cli/src/command.js'
import { COMMAND_GROUPS } from '../../packages/cli/src/commands/command-table.js'
import { faultsOf, rowsOf, shapes, timeFaults } from './json-page.js'
import { until } from '../workflow/cli-fixture.js'
import { Shell } from './page-session.js'

const WORKFLOW = `
name: all
params: { day: monday }
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
budgets: { few: { type: count, total: 1 }, one: { type: token_bucket, capacity: 1, refill_per_second: 0.001 } }
steps:
  - { name: ok, shell: echo hi, capture: said }
  - { name: flaky, shell: test $REPRISE_ATTEMPT -ge 2, retry: { attempts: 3, initial_delay: 10ms, retry_budget: 1m } }
  - { name: skipped, shell: x, when: "false" }
  - { name: fallback, shell: exit 1, retry: { attempts: 1, on_failure: { fallback: { command: echo other } } } }
  - { name: missing, run: [no-such-program], retry: { attempts: 1, on_failure: continue } }
  - { name: down, shell: exit 3, retry: { attempts: 5, initial_delay: 10ms, breaker: db, on_failure: continue } }
  - { name: counted, shell: exit 3, retry: { attempts: 5, initial_delay: 10ms, budget: few, on_failure: continue } }
  - { name: denied, shell: exit 3, retry: { attempts: 3, initial_delay: 10ms, budget: one, on_failure: continue } }
`
const MAPS = `
steps:
  - { id: list, shell: ./list }
  - { id: plain, map: { input: [1, 2], agent_template: [{ shell: x }] } }
  - id: full
    map:
      input: { file: a, format: json }
      json_path: $[*]
      filter: item.a
      sort_by: item.b desc
      rate: 20/s
      agent_template: [{ shell: x }]
      on_item_error: [{ shell: x }]
      error_policy: { item_retry: 3, tolerate: 5%, max_failures: 3, failure_threshold: 20%, halt_on: [255], max_retries: 5 }
`
const ITEMS = `
steps:
  - id: each
    map:
      input: [a, b, c]
      agent_template: [{ shell: 'case \${item} in b) exit 3;; c) sleep 2;; esac' }]
`
/** Fails, and waits; stops until it is told to go on. */
const WAITING = `
steps:
  - { name: waits, shell: test -e go, retry: { attempts: 5, backoff: fixed, initial_delay: 30s, retry_budget: 1h } }
`
/** Two datacenters, both on this machine. */
const JOB = 'mode: job\ndatacenters: [eu, us]\nworkflows: [{ name: a, document: { steps: [{ shell: echo }] } }]\n'
/** An item whose letter can be redriven, changed and closed. */
const DEAD = 'mode: mapreduce\nmap: { input: [1, 2], agent_template: [{ shell: "test ${item.index} = 0" }] }\n'
const LONG = 'steps: [{ name: pay, shell: "touch paying; test -e go || sleep 60", on_interrupt: fail }]\n'

/** By the first cell of the table; what is typed, and how it ends. In this order: they build on each other. */
const TYPED: readonly (readonly [row: string, command: string, code: number])[] = [
  ['`init`', 'init demo', 0],
  ['`run FILE`', 'run all.yaml --run-id r1', 3],
  ['`run FILE --dry-run`', 'run all.yaml --dry-run', 0],
  ['`validate FILE…`', 'validate all.yaml bad.yaml', 2],
  ['`ps`', 'ps', 0],
  ['`ps --retrying`', 'ps --retrying', 0],
  ['`show RUN`', 'show r1', 0],
  ['`show RUN STEP`', 'show r1 flaky', 0],
  ['`show RUN MAP`', 'show m1 each', 0],
  ['`show RUN MAP ITEM`', 'show m1 each a', 0],
  ['`logs RUN`', 'logs r1', 0],
  ['`events RUN`', 'events r1', 0],
  ['`breakers list`', 'breakers list', 0],
  ['`breakers reset NAME`', 'breakers reset db --reason back', 0],
  ['`breakers trip NAME`', 'breakers trip db --reason maintenance', 0],
  ['`budgets list`', 'budgets list', 0],
  ['`budgets grant NAME`', 'budgets grant few@r1 --amount 2 --reason more', 0],
  ['`budgets reset NAME`', 'budgets reset one --reason damaged', 0],
  ['`exec -- CMD`', 'exec --attempts 2 --initial-delay 10ms -- sh -c "exit 7"', 7],
  ['`exec --durable ID -- CMD`', 'exec --durable e1 -- echo hi', 0],
  ['`exec --durable ID -- CMD` of one that has succeeded', 'exec --durable e1 -- echo hi', 0],
  ['`resume RUN --dry-run`', 'resume w1 --dry-run', 0],
  ['`job run FILE`', 'job run job.yaml --job-id j1', 0],
  ['`job submit FILE`', 'job submit job.yaml --job-id j2', 0],
  ['`job status JOB`', 'job status j1', 0],
  ['`job list`', 'job list', 0],
  ['`job cancel JOB`', 'job cancel j2', 0],
  ['`job wait JOB`', 'job wait j2', 1],
  ['`job result JOB`', 'job result j1', 0],
  ['`resume JOB`', 'resume j1', 0],
  ['`resume JOB --dry-run`', 'resume j1 --dry-run', 0],
  ['`job retry JOB`', 'job retry j2', 0],
  ['`job settings`', 'job settings --write', 0],
  ['`datacenters`', 'datacenters', 0],
  ['`datacenters disable NAME`', 'datacenters disable eu --reason maintenance', 0],
  ['`datacenters enable NAME`', 'datacenters enable eu', 0],
  ['`tasks list`', 'tasks list --store sqlite:tasks/ledger.db', 0],
  ['`tasks show TASK`', 'tasks show ship/done --store sqlite:tasks/ledger.db', 0],
  ['`tasks retry-now TASK`', 'tasks retry-now ship/waits --store sqlite:tasks/ledger.db', 0],
  ['`tasks cancel TASK`', 'tasks cancel ship/waits --store sqlite:tasks/ledger.db', 0],
  ['`tasks decide TASK`', 'tasks decide ship/runs --rerun --store sqlite:tasks/ledger.db', 0],
  ['`dlq list`', 'dlq list --state all --store sqlite:letters/ledger.db', 0],
  ['`dlq groups`', 'dlq groups --store sqlite:letters/ledger.db', 0],
  ['`dlq stats`', 'dlq stats --store sqlite:letters/ledger.db', 0],
  ['`dlq retry --dry-run`', 'dlq retry d1 --dry-run --store sqlite:letters/ledger.db', 0],
  ['`dlq decide LETTER`', 'dlq decide d1 --done --store sqlite:letters/ledger.db', 0],
  ['`dlq edit LETTER`', 'dlq edit d1/map 2 --input 3 --store sqlite:letters/ledger.db', 0],
  ['`dlq retry`', 'dlq retry d1 --store sqlite:letters/ledger.db', 3],
  ['`agent RUN`', 'agent d1 --store sqlite:letters/ledger.db', 0],
  ['`dlq ack LETTER`', 'dlq ack d1/map 2 --reason withdrawn --store sqlite:letters/ledger.db', 0],
  ['`dlq show LETTER`', 'dlq show d1/map 2 --store sqlite:letters/ledger.db', 0],
  ['`dlq export --file FILE`', 'dlq export d1 --state all --file letters.json --store sqlite:letters/ledger.db', 0],
  ['`dlq purge`', 'dlq purge --older-than 0s --yes --store sqlite:letters/ledger.db', 0],
  ['`store status`', 'store status', 0],
  ['`store migrate`', 'store migrate', 0],
  ['`store backup FILE`', 'store backup copy.db', 0],
  ['`store restore FILE`', 'store restore copy.db --store sqlite:again/ledger.db', 0],
  ['`doctor`', 'doctor', 0],
  ['`doctor --salvage FILE`', 'doctor --salvage salvaged.db', 0],
  ['`retry-now RUN STEP`', 'retry-now w1 waits', 0],
  ['a command that is refused, exit code 4', 'resume r1', 4],
  ['`resume RUN`', 'resume p1', 4],
  ['wrong usage or a bad file, exit code 2; a store that fails, 74', 'run bad.yaml', 2],
  ['`resume RUN` of one that has succeeded', 'resume e1', 0],
  ['`map set RUN`', 'map set m1 --max-parallel 2 --rate 5/s --max-failures 9 --reason slow', 0],
  ['`map pause RUN`', 'map pause m1', 0],
  ['`map continue RUN`', 'map continue m1', 0],
  ['`rerun RUN --from STEP --dry-run`', 'rerun r1 --from denied --dry-run', 0],
  ['`rerun RUN --from STEP`', 'rerun r1 --from denied', 3],
  ['`cancel RUN`', 'cancel w1', 0],
  ['`clean`', 'clean --older-than 0s --yes', 0],
]

/** Described elsewhere, or without `--json`; the page says so below its table. */
const ELSEWHERE = ['explain', 'simulate', 'schema', 'watch', 'completion', 'worker', 'gate']

/** Nothing here makes a step stand in line (two would have to run at once), and no server goes away. */
const NOT_SEEN = ['parked', 'store_away', 'store_back', 'group_waiting', 'map_note']

let shell: Shell
beforeAll(async () => {
  shell = new Shell()
  shell.write('all.yaml', WORKFLOW)
  shell.write('job.yaml', JOB)
  shell.write('waiting.yaml', WAITING)
  shell.write('long.yaml', LONG)
  shell.write('items.yaml', ITEMS)
  await shell.type('reprise run items.yaml --run-id m1 --only a --only b 2> m1.log')
  shell.write('dead.yaml', DEAD)
  await shell.type('reprise run dead.yaml --run-id d1 --store sqlite:letters/ledger.db > d1.log 2>&1')
  await startTasks(path.join(shell.directory, 'tasks'))
  shell.write('policy.yaml', '{ attempts: 4, jitter: equal, initial_delay: 333ms }\n')
  shell.write('bad.yaml', 'steps: [{ shel: x }]\n')
  await shell.type('reprise run waiting.yaml --run-id w1 > w1.log 2>&1 &')
  await shell.type('until grep -q Retrying w1.log; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null')
  await shell.type('reprise run long.yaml --run-id p1 > p1.log 2>&1 &')
  await shell.type('until test -e paying; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null')
}, 60_000)
afterAll(() => shell.end())

/** Of a program: one that has succeeded, one that waits, and one that is undecided. */
async function startTasks(directory: string): Promise<void> {
  mkdirSync(directory)
  const durable = await openDurable(`sqlite:${path.join(directory, 'ledger.db')}`)
  const policy = { attempts: 3, backoff: 'fixed', initialDelay: '1h', maxDelay: '1h' } as const
  const ship = durable.task(
    'ship',
    policy,
    (how: string, { attempt }) => {
      if (how === 'runs') return new Promise<never>(() => undefined)
      if (how === 'waits' || attempt === 1) throw new Error('no ship')
      return 'shipped'
    },
    { onInterrupt: 'fail' },
  )
  for (const id of ['done', 'waits', 'runs']) await ship.start(id, { id })
  const isIn = (id: string, state: string): Promise<void> =>
    until(
      async () => (await ship.status(id))?.history.length === (state === 'running' ? 0 : 1) && (await is(id, state)),
      () => `${id} to be ${state}`,
    )
  const is = async (id: string, state: string): Promise<boolean> => (await ship.status(id))?.state === state
  await isIn('done', 'waiting')
  await ship.retryNow('done')
  await until(
    () => is('done', 'succeeded'),
    () => 'done to succeed',
  )
  await isIn('waits', 'waiting')
  await isIn('runs', 'running')
  await durable.close()
}

async function printed(command: string, code: number): Promise<string> {
  const { output, code: ended } = await shell.type(`reprise ${command} 2> talk`)
  expect(ended, output).toBe(code)
  return output
}

describe('the table of commands', () => {
  const rows = new Map(rowsOf('| command | prints |').map(([command, shape]) => [command, shape ?? '']))

  test('has a line for each that is tried here, and none besides', () => {
    expect([...rows.keys()].toSorted()).toEqual(TYPED.map(([row]) => row).toSorted())
  })

  test('has every command that there is', () => {
    const named = (name: string, { subcommands }: CommandEntry): string[] =>
      subcommands === undefined ? [name] : subcommands.map((sub) => `${name} ${sub.name}`)
    const commands = COMMAND_GROUPS.flatMap((group) => group.commands.filter(isThere))
    const names = commands
      .flatMap((command) => named(command.name, command))
      .filter((name) => !ELSEWHERE.includes(name))
    const isOnPage = (name: string): boolean => [...rows.keys()].some((row) => row.startsWith(`\`${name}`))
    expect(names.filter((name) => !isOnPage(name))).toEqual([])
  })

  test.each(TYPED)('%s', { timeout: 30_000 }, async (row, command, code) => {
    const value: unknown = JSON.parse(
      await printed(`${command} --json`.replace(/^(exec .*?)(-- .*?) --json$/, '$1--json $2'), code),
    )
    expect(faultsOf(value, rows.get(row) ?? '')).toEqual([])
    expect(timeFaults(value)).toEqual([])
  })
})

test('a plan with a map is printed as the page says', async () => {
  shell.write('map.yaml', MAPS)
  const value: unknown = JSON.parse(await printed('run map.yaml --dry-run --json', 0))
  expect(faultsOf(value, 'PlanView')).toEqual([])
  expect((value as { steps: { kind: string }[] }).steps.map(({ kind }) => kind)).toEqual(['step', 'map', 'map'])
})

describe('events', () => {
  test('while it runs, every type on the page is told with exactly its fields', { timeout: 60_000 }, async () => {
    const recorded = rowsOf('| `type` | `detail` |').map(([type, detail = '']) => [word(type), ['no', detail]] as const)
    const unrecorded = rowsOf('| `type` | about a step | `detail` |').map(
      ([type, about = '', detail = '']) => [word(type), [about, detail]] as const,
    )
    const rows = new Map<string, readonly [string, string]>([...recorded, ...unrecorded])
    // So that it opens once more.
    await printed('breakers reset db --reason back --json', 0)
    const steps = await printed('run all.yaml --run-id r2 --ndjson', 3)
    const items = await printed('run items.yaml --run-id m2 --ndjson', 3)
    const lines = `${steps}${items}`.trim().split('\n')
    const seen = new Set<string>()
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; detail: unknown }
      const { type, detail } = event
      if (type === 'map_started' || type === 'map_finished') continue
      expect([...rows.keys()]).toContain(type)
      seen.add(type)
      const [about, shape] = rows.get(type) ?? ['', '']
      expect(faultsOf(event, 'EventView', type)).toEqual([])
      expect(faultsOf(detail, shape, type)).toEqual([])
      const isOfAttempt = 'attempt' in event && typeof event.attempt === 'number'
      if (unrecorded.some(([known]) => known === type)) expect(isOfAttempt, type).toBe(about === 'yes')
      expect(timeFaults(event)).toEqual([])
    }
    expect(unrecorded.map(([type]) => type).filter((type) => !seen.has(type))).toEqual(NOT_SEEN)
  })

  test('that are recorded have the details that the page lists', { timeout: 60_000 }, async () => {
    const details = new Map(rowsOf('| `type` | `detail` |').map(([type, detail]) => [word(type), detail ?? '']))
    await shell.type('reprise run waiting.yaml --run-id w2 > w2.log 2>&1 &')
    await shell.type('until grep -q Retrying w2.log; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null')
    const seen = new Set<string>()
    const look = async (run: string): Promise<void> => {
      const { events } = JSON.parse(await printed(`events ${run} --json`, 0)) as {
        events: { type: string; detail: unknown }[]
      }
      for (const { type, detail } of events) {
        expect(details.has(type), type).toBe(true)
        expect(faultsOf(detail, details.get(type) ?? '', type)).toEqual([])
        expect(timeFaults(detail, type)).toEqual([])
        seen.add(type)
      }
    }
    await look('w2')
    await shell.type('reprise retry-now w2 waits; touch go; reprise resume w2; sed -i.bak s/30s/20s/ waiting.yaml')
    await look('w2')
    await shell.type('rm go; sed -i.bak s/20s/30s/ waiting.yaml; reprise run waiting.yaml --run-id w3 > w3.log 2>&1 &')
    await shell.type('until grep -q Retrying w3.log; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null')
    await shell.type('sed -i.bak s/30s/20s/ waiting.yaml; reprise resume w3 --accept-changes > w3.log 2>&1 &')
    await shell.type('until grep -q "step done" w3.log; do sleep 0.1; done; reprise cancel w3; wait')
    await shell.type('touch go; reprise resume w3 --reset-retries')
    await look('w3')
    await shell.type('rm -f go paying; reprise run long.yaml --run-id p2 > p2.log 2>&1 &')
    await shell.type(
      'until test -e paying; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null; reprise resume p2; reprise resume p2 --done pay',
    )
    await look('p2')
    // Steps that a breaker or a budget denied; that breaker was opened by the run before.
    await printed('run all.yaml --run-id r3 --json', 3)
    await look('r3')
    await look('r2')
    expect([...details.keys()].filter((type) => !seen.has(type))).toEqual([])
  })
})

const word = (cell: string): string => cell.replaceAll('`', '')

describe('explain and simulate', () => {
  test.each(['explain all.yaml', 'simulate policy.yaml --clients 5 --capacity 50'])(
    '%s prints durations in whole milliseconds',
    async (command) => {
      const value: unknown = JSON.parse(await printed(`${command} --json`, 0))
      expect(timeFaults(value)).toEqual([])
    },
  )
})

describe('the page', () => {
  test('says what every type is that it names', () => {
    const types = [...shapes.values()].flatMap((shape) => [...shape.values()])
    for (const type of types) expect(() => faultsOf(null, type)).not.toThrow()
  })

  test('would be found out', () => {
    expect(faultsOf({ id: 'a' }, 'PreviewStep')).toEqual([
      '$.id is printed, and not on the page',
      '$.step is on the page, and not printed',
      '$.attempt is on the page, and not printed',
      '$.of is on the page, and not printed',
    ])
    expect(faultsOf({ name: 'x', message: 5 }, 'Failure')).toEqual(['$.message is 5, no text'])
    expect(faultsOf('x', '`a` · `b`')).toEqual(['$ is "x", none of a, b'])
    expect(faultsOf(null, 'Failure or null')).toEqual([])
    expect(faultsOf([1], '`{ a: number }`')).toHaveLength(1)
    expect(faultsOf({ atMs: 0 }, '`{ atMs: number }`')).toEqual(['$.at is on the page, and not printed'])
  })

  test('would be found out where a time is printed otherwise than it says', () => {
    const date = '1970-01-01T00:00:00.005Z'
    expect(
      timeFaults({ a: [{ startedAtMs: 5, startedAt: date, waitedMs: 3, endedAtMs: null, endedAt: null }] }),
    ).toEqual([])
    expect(timeFaults({ startedAtMs: 5 })).toEqual(['$.startedAtMs has the date undefined'])
    expect(timeFaults({ startedAtMs: 5.5, startedAt: date })).toEqual(['$.startedAtMs is 5.5, no whole number'])
    expect(timeFaults({ latencyMs: { p50: 0.5 } })).toEqual(['$.latencyMs.p50Ms is 0.5, no whole number'])
    expect(timeFaults({ fromMs: 1_800_000_000_000 })).toEqual(['$.fromMs has the date undefined'])
  })
})
