/** What show, watch, ps, logs and events say of a run with a map, as processes. Needs a build. */
import type { ItemDetail, ItemPage, RunDetail, StepView } from '@reprise/workflow/internal'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CliFixture, type Ended } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'
import { onBothStores } from './both-stores.js'

onBothStores('a map that is shown', () => {
  /** Item 3 recovers, item 5 fails for good. */
  const workflow = `
name: import
mode: mapreduce
map:
  input: { range: [1, 30] }
  max_parallel: 4
  agent_template:
    - shell: |
        echo "item \${item}"
        case "\${item}-$REPRISE_ATTEMPT" in 5-*) echo poison >&2; exit 65;; 3-1) echo early >&2; exit 75;; esac
reduce: [{ id: sum, shell: "echo \${map.succeeded}" }]
error_policy: { item_retry: { attempts: 2, initial_delay: 1ms } }
`

  let fixture: CliFixture
  let told = ''
  beforeAll(async () => {
    fixture = new CliFixture(workflow)
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    expect(code).toBe(3)
    told = stderr
  })
  afterAll(() => fixture.remove())

  /** Within this process: what the command does to the run, and says, is the same. */
  const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await here(...args, '--json')
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout) as T
  }

  test('23: the summary names recovered and failed items by kind of failure, and what to type', () => {
    expect(told).toContain('FAILED item 5 of map after 2 attempts (attempts_exhausted): exit code 65: poison')
    expect(told).toContain('map: 30 items: 29 succeeded, 1 dead (1 recovered)')
    expect(told).toContain('1 item failed: exit code 65: poison (1 for good)')
    expect(told).toContain('1 item failed: exit code 75: early (1 recovered)')
    expect(told).toContain('next: reprise dlq list r1')
    expect(told).toContain('next: reprise dlq retry r1')
  })

  test('23: show has a map as one row with counts, failures by kind and limits', async () => {
    const { steps, items } = await json<RunDetail>('show', 'r1')
    expect(steps.map(({ id, kind, state }) => [id, kind, state])).toEqual([
      ['map', 'map', 'failed'],
      ['sum', 'shell', 'succeeded'],
    ])
    const counts = { total: 30, pending: 0, running: 0, retrying: 0, succeeded: 29, skipped: 0, dead: 1, undecided: 0 }
    expect(items).toMatchObject(counts)
    expect(steps[0]?.map).toMatchObject({
      state: 'completed_with_failures',
      counts,
      recovered: 1,
      maxParallel: 4,
      isPaused: false,
      halted: null,
      running: [],
    })
    const failures = steps[0]?.map?.failures.map(({ items: count, failed, recovered }) => [count, failed, recovered])
    expect(failures?.toSorted(([, a = 0], [, b = 0]) => a - b)).toEqual([
      [1, 0, 1],
      [1, 1, 0],
    ])
    const { stdout } = await here('show', 'r1')
    expect(stdout).toContain('30/30 items, 1 dead')
    expect(stdout).toContain('next: reprise dlq retry r1')
  })

  test('show RUN MAP pages through items, of one state or all', async () => {
    const first = await json<StepView & { page: ItemPage }>('show', 'r1', 'map', '--limit', '20')
    expect(first.page.items).toHaveLength(20)
    expect(first.page.next).toBe('0000019.20')
    const rest = await json<{ page: ItemPage }>('show', 'r1', 'map', '--limit', '20', '--after', '0000019.20')
    expect([rest.page.items.length, rest.page.next]).toEqual([10, null])
    const dead = await json<{ page: ItemPage }>('show', 'r1', 'map', '--state', 'dead')
    expect(dead.page.items).toMatchObject([{ item: '0000004.5', key: '5', index: 4, state: 'dead', attempts: 2 }])
    const { stdout } = await here('show', 'r1', 'map', '--limit', '2')
    expect(stdout).toContain('more: reprise show r1 map --limit 2 --after 0000001.2')
  })

  test('show RUN MAP pages through items that wait', async () => {
    await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r2', '--sample', '2')
    const seen: string[] = []
    for (let after: string | null = ''; after !== null; ) {
      const flags: string[] = after === '' ? [] : ['--after', after]
      const { page } = await json<{ page: ItemPage }>(
        'show',
        'r2',
        'map',
        '--state',
        'pending',
        '--limit',
        '10',
        ...flags,
      )
      seen.push(...page.items.map(({ key }) => key))
      after = page.next
    }
    expect(seen).toEqual(Array.from({ length: 28 }, (_, index) => String(index + 3)))
  })

  test('show RUN MAP ITEM has one item with its attempts, by key or id, and logs its output', async () => {
    const item = await json<ItemDetail>('show', 'r1', 'map', '5')
    expect(item).toMatchObject({ id: '0000004.5', key: '5', value: 5, state: 'failed', attempts: 2 })
    expect(item.history.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'failure'],
      [2, 'failure'],
    ])
    expect((await json<ItemDetail>('show', 'r1', 'map', '0000004.5')).key).toBe('5')
    expect((await here('logs', 'r1', 'map', '5', '--attempt', '2')).stdout).toBe('item 5\npoison\n')
    const plain = await here('logs', 'r1', 'map', '1')
    expect(plain.stderr).toContain('No log of item 1 is here; logs of plain successes are kept with `keep_logs: all`.')
  })

  test('what there is not is refused with what to type', async () => {
    const now = await here('retry-now', 'r1', 'map')
    expect([now.code, now.stderr]).toEqual([4, expect.stringContaining('Step map of run r1 is a map: its items')])
    const item = await here('show', 'r1', 'map', '55')
    expect([item.code, item.stderr.includes('Map map of run r1 has no item 55. Did you mean 5?')]).toEqual([4, true])
    const logs = await here('logs', 'r1', 'map')
    expect([logs.code, logs.stderr.includes('next: reprise logs r1 map ITEM')]).toEqual([4, true])
    const step = await here('show', 'r1', 'sum', '--state', 'dead')
    expect([step.code, step.stderr.includes('--state is about the items of a map')]).toEqual([2, true])
    const many = await here('show', 'r1', 'map', '--limit', '5000')
    expect([many.code, many.stderr.includes('at most 1000')]).toEqual([2, true])
  })

  test('ps counts items, and events have what concerns the map as a whole', async () => {
    const { runs } = await json<{ runs: { id: string; items: unknown; counts: unknown }[] }>('ps')
    expect(runs.find(({ id }) => id === 'r1')).toMatchObject({
      counts: { failed: 1, succeeded: 1 },
      items: { total: 30, succeeded: 29, dead: 1 },
    })
    const { events } = await json<{ events: { type: string; step: string | null }[] }>('events', 'r1')
    expect(events.filter(({ step }) => step === 'map').map(({ type }) => type)).toEqual(['map_started', 'map_finished'])
  })

  test('watch tells of a map that another process runs, and --ndjson at most once a second', async () => {
    fixture.write('slow.yaml', workflow.replace('echo "item', 'sleep 0.3; echo "item'))
    const going = fixture.start('run', 'slow.yaml', '--run-id', 'r3')
    await here('ps')
    let watched = { code: 4, stdout: '' as string }
    while (watched.code === 4) watched = (await fixture.reprise('watch', 'r3', '--ndjson')) as typeof watched
    expect((await going.ended).code).toBe(3)
    const lines = watched.stdout.trimEnd().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { type: string; timeMs: number })
    const progress = events.filter(({ type }) => type === 'map_progress')
    expect(progress.length).toBeGreaterThan(0)
    for (const [index, { timeMs }] of progress.entries())
      expect(timeMs - (progress[index - 1]?.timeMs ?? -Infinity)).toBeGreaterThanOrEqual(1000)
    expect(events.find(({ type }) => type === 'map_summary')).toMatchObject({
      detail: { counts: { total: 30, dead: 1 } },
    })
  })

  test('a map whose input failed is among what failed, though the run continued, with the log of its command', async () => {
    const other = new CliFixture(`
steps:
  - id: each
    on_failure: continue
    map:
      input: { command: 'echo "no list today" >&2; exit 3' }
      agent_template: [{ shell: 'true' }]
  - { id: after, shell: 'true' }
`)
    try {
      const { code, stderr } = await other.reprise('run', 'workflow.yaml', '--run-id', 'r1')
      expect(code).toBe(3)
      const [, block = ''] = stderr.split('Failed:\n')
      expect(block).toContain('each  no item has run, since the map could not begin')
      expect(block).toContain('exit code 3: no list today')
      expect(block).toMatch(/log: .*runs\/r1\/each\/1\.1\.1\.log/)
      expect(block).toContain('next: reprise logs r1 each')
      expect((await other.reprise('logs', 'r1', 'each')).stdout).toBe('no list today\n')
    } finally {
      other.remove()
    }
  })
})
