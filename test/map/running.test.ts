/** How the items of a map run: how many at a time, in which order, under which names, and what is kept of them. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { MapFixture, noting, STORES } from './map-fixture.js'

describe.each(STORES)('the items of a map on %s', (kind) => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const begin = async (): Promise<MapFixture> => (fixture = await MapFixture.in(kind))

  test('8: run max_parallel at a time, and never more', { timeout: 90_000 }, async () => {
    await begin()
    const wait = 'for i in $(seq 1 600); do [ $(ls here | wc -l) -ge 20 ] && exit 0; sleep 0.05; done; exit 4'
    const state = await fixture.run({
      setup: [{ shell: 'mkdir here' }],
      map: {
        input: { range: [1, 20] },
        max_parallel: 20,
        agent_template: [{ shell: `touch here/$REPRISE_ITEM_INDEX; ${wait}` }],
      },
    })
    expect(state).toBe('succeeded')
    const rows = await fixture.look((ledger) => ledger.attemptsOfRun('import-1/map'))
    const lastStart = Math.max(...rows.map(({ startedAtMs }) => startedAtMs))
    expect(rows.every(({ endedAtMs }) => endedAtMs >= lastStart)).toBe(true)
  })

  test('9: begin in the order of sort_by, with retries before fresh items', async () => {
    await begin()
    await fixture.run({
      map: {
        input: [{ id: 'c', n: 3 }, { id: 'a', n: 1 }, { id: 'x' }, { id: 'b', n: 2 }],
        sort_by: 'item.n',
        max_parallel: 1,
        agent_template: [{ shell: noting('[ ${item.id} != a ] || [ $REPRISE_ATTEMPT = 2 ]') }],
      },
      error_policy: { item_retry: { attempts: 2, backoff: 'fixed', initial_delay: '0ms' } },
    })
    expect(fixture.lines('starts')).toEqual(['a 1', 'a 2', 'b 1', 'c 1', 'x 1'])
  })

  test('11: have keys of any text, and ids that keep duplicates apart', async () => {
    await begin()
    await fixture.run({
      map: {
        input: [{ id: 'orders/17' }, { id: 'orders/17' }, { id: 'Zürich' }, { n: 1 }],
        agent_template: [{ shell: 'echo "$REPRISE_ITEM_KEY ${item.key} ${item_key}"', capture: 'keys' }],
      },
    })
    const results = fixture.results()
    expect(results.map(({ key }) => key)).toEqual([
      'orders/17',
      'orders/17',
      'Zürich',
      expect.stringMatching(/^[0-9a-f]{20}$/),
    ])
    expect(results[2]?.result).toBe('Zürich Zürich Zürich')
    const tasks = await fixture.look((ledger) => ledger.list({ scope: 'import-1/map' }))
    expect(tasks.slice(0, 2).map(({ id }) => id)).toEqual(['0000000.orders-17', '0000001.orders-17'])
  })

  test('15: are in states that add up to the total at every moment', async () => {
    await begin()
    await fixture.run({
      map: {
        input: { range: [1, 40] },
        max_parallel: 4,
        agent_template: [{ shell: 'sleep 0.05; [ $REPRISE_ITEM_INDEX != 7 ]' }],
      },
      error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' } },
    })
    const told = [...fixture.told('map_started'), ...fixture.told('map_progress'), ...fixture.told('map_finished')]
    expect(told.length).toBeGreaterThan(2)
    for (const { counts } of told) {
      const { total, ...states } = counts
      expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total)
      expect(total).toBe(40)
    }
  })

  test('16: leave files with results, failures and pending items, and a manifest of them', async () => {
    await begin()
    await fixture.run({
      map: {
        input: { range: [1, 5] },
        max_parallel: 1,
        agent_template: [{ shell: '[ ${item} != 3 ] || exit 3; echo ${item}', capture: 'n' }],
      },
      error_policy: { on_item_failure: 'stop' },
    })
    const states = (name: string): string[] => fixture.results(name).map(({ index, state }) => `${index} ${state}`)
    expect(states('results')).toEqual(['0 succeeded', '1 succeeded', '2 dead', '3 pending', '4 pending'])
    expect(states('succeeded')).toEqual(['0 succeeded', '1 succeeded'])
    expect(states('failed')).toEqual(['2 dead'])
    expect(states('pending')).toEqual(['3 pending', '4 pending'])
    const directory = path.join(fixture.directory, 'state/runs/import-1/map')
    const { files } = JSON.parse(readFileSync(path.join(directory, 'manifest.json'), 'utf8')) as {
      files: { file: string; lines: number; sha256: string }[]
    }
    for (const { file, lines, sha256 } of files) {
      const text = readFileSync(path.join(directory, file))
      expect(createHash('sha256').update(text).digest('hex')).toBe(sha256)
      expect(text.toString().split('\n').length - 1).toBe(lines)
    }
  })

  test('16: hand their results to later steps as a value', async () => {
    await begin()
    await fixture.run({
      map: {
        input: [1, 2, 3],
        agent_template: [{ shell: 'echo $REPRISE_ITEM_INDEX', capture: 'n', capture_format: 'number' }],
      },
      reduce: [{ write_file: { path: 'sum.json', content: '${map.results}' } }],
    })
    expect(JSON.parse(fixture.read('sum.json'))).toEqual([0, 1, 2])
  })

  test.each([
    ['failures', ['flaky 1', 'flaky 2', 'bad 1', 'bad 2']],
    ['all', ['good 1', 'flaky 1', 'flaky 2', 'bad 1', 'bad 2']],
    ['none', ['flaky 1', 'bad 1', 'bad 2']],
  ])('22: keep the logs that keep_logs: %s names', async (keepLogs, expected) => {
    await begin()
    const work = 'echo said; case ${item} in good) ;; flaky) [ $REPRISE_ATTEMPT = 2 ];; *) exit 3;; esac'
    await fixture.run({
      map: { input: ['good', 'flaky', 'bad'], keep_logs: keepLogs, agent_template: [{ shell: work }] },
      error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' } },
    })
    const directory = path.join(fixture.directory, 'state/runs/import-1/map')
    const shards = readdirSync(directory).filter((name) => /^[0-9a-f]{2}$/.test(name))
    const logs = shards.flatMap((shard) => readdirSync(path.join(directory, shard)))
    const names = logs.map((name) => name.replace(/^\d+\.([a-z]+)@1\.(\d)\.1\.log$/, '$1 $2'))
    expect(names.toSorted()).toEqual(expected.toSorted())
  })

  test('22: keep the output of on_item_error apart from that of their attempts', async () => {
    await begin()
    await fixture.run({
      map: {
        input: ['bad'],
        agent_template: [{ shell: 'echo item; exit 3' }],
        on_item_error: [{ shell: 'echo "given up ${item.key} ${item.index}"' }],
      },
    })
    const directory = path.join(fixture.directory, 'state/runs/import-1/map')
    const shards = readdirSync(directory).filter((name) => /^[0-9a-f]{2}$/.test(name))
    const logs = shards.flatMap((shard) =>
      readdirSync(path.join(directory, shard)).map((name) => [
        name,
        readFileSync(path.join(directory, shard, name), 'utf8'),
      ]),
    )
    expect(Object.fromEntries(logs)).toEqual({
      '0000000.bad@1.1.1.log': 'item\n',
      '0000000.bad.g1@1.1.1.log': 'given up bad 0\n',
    })
  })

  test('20: are limited in starts per second by rate, over all of them', { timeout: 60_000 }, async () => {
    await begin()
    await fixture.run({
      map: { input: { range: [1, 12] }, rate: '10/s', max_parallel: 12, agent_template: [{ shell: 'true' }] },
    })
    const rows = await fixture.look((ledger) => ledger.attemptsOfRun('import-1/map'))
    const starts = rows.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b)
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(1000)
  })

  test('4: are recorded without secrets', async () => {
    await begin()
    process.env['MAP_TEST_SECRET'] = 'hunter2-hunter2'
    try {
      await fixture.run({
        secrets: ['MAP_TEST_SECRET'],
        map: { input: ['hunter2-hunter2'], agent_template: [{ shell: 'echo $MAP_TEST_SECRET', capture: 'said' }] },
      })
    } finally {
      delete process.env['MAP_TEST_SECRET']
    }
    const tasks = await fixture.look((ledger) => ledger.list({ scope: 'import-1/map' }))
    expect(JSON.stringify(tasks)).not.toContain('hunter2')
    expect(existsSync(path.join(fixture.directory, 'state/runs/import-1/map/results.ndjson'))).toBe(true)
  })
})
