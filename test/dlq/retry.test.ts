/** Dead letters of maps, redriven: points 14 and 24 to 27, on both stores. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { onBothStores } from '../workflow/both-stores.js'
import { LetterFixture, type MapText } from './letter-fixture.js'

onBothStores('dead letters of a map', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())
  const begin = async (text: MapText, failing: readonly string[], code = 3): Promise<void> => {
    fixture = new LetterFixture(text)
    fixture.fail(...failing)
    const ended = await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')
    expect(ended.code, ended.stderr).toBe(code)
  }

  test('24: an item out of attempts has one open letter with its data, its history and its cause', async () => {
    await begin({ errors: { item_retry: { attempts: 2, initial_delay: '5ms' } } }, ['b', 'd'])
    const letters = await fixture.letters('r1')
    // Listed by the time of their ends, and either item may end first.
    const sorted = letters.toSorted((one, other) => one.letter.localeCompare(other.letter))
    expect(sorted.map(({ letter, key, state, attempts }) => [letter, key, state, attempts])).toEqual([
      ['r1/map/0000001.b', 'b', 'dead', 2],
      ['r1/map/0000003.d', 'd', 'dead', 2],
    ])
    const detail = await fixture.showLetter('r1/map', 'b')
    expect(detail).toMatchObject({ data: 'b', stopReason: 'attempts_exhausted', retry: { makesSense: true } })
    expect(detail.signature).toContain('(exit 75)')
    expect(detail.correlationId).toMatch(/^[0-9a-f-]{36}$/)
    const [only] = detail.generations
    expect(only?.attempts.map(({ attempt, outcome, delayBeforeMs }) => [attempt, outcome, delayBeforeMs])).toEqual([
      [1, 'failure', 0],
      [2, 'failure', 5],
    ])
    expect(await fixture.counts()).toMatchObject({ total: 6, succeeded: 4, failed: 2 })
  })

  test('25: a retry that leaves none failed rewrites results, state and exit code, and charges no max_retries', async () => {
    await begin({ errors: { item_retry: { attempts: 2, initial_delay: '1ms' }, max_retries: 2 } }, ['b', 'd'])
    const failed = await fixture.here('dlq', 'retry', 'r1/map', 'b')
    expect(failed.code, failed.stderr).toBe(3)
    expect(fixture.starts().filter((key) => key === 'b')).toHaveLength(4)
    expect(await fixture.letters('r1')).toHaveLength(2)
    fixture.mend('b', 'd')
    const ended = await fixture.here('dlq', 'retry', 'r1')
    expect(ended.code, ended.stderr).toBe(0)
    expect(await fixture.state()).toBe('succeeded')
    expect(await fixture.state('r1/map')).toBe('succeeded')
    expect(await fixture.letters('r1')).toEqual([])
    expect(await fixture.results('failed')).toEqual([])
    expect(await fixture.results('succeeded')).toHaveLength(6)
    const { generations } = await fixture.showLetter('r1/map/0000001.b')
    expect(generations.map(({ generation, closedBy, attempts }) => [generation, closedBy, attempts.length])).toEqual([
      [1, 'reset', 2],
      [2, 'reset', 2],
      [3, null, 1],
    ])
    expect(await fixture.counts()).toMatchObject({ total: 6, succeeded: 6, failed: 0 })
  })

  test('25: --group, --where and --dry-run choose letters, and different exit codes are different groups', async () => {
    const items = [
      { id: 'a', size: 1 },
      { id: 'b', size: 20 },
      { id: 'c', size: 30 },
    ]
    const before = '[ ! -e "other-${item.key}" ] || exit 1'
    fixture = new LetterFixture({ items, before })
    fixture.fail('a', 'b')
    fixture.write('other-c', '')
    expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    const groups = await fixture.groups('r1')
    expect(groups.map(({ count, retryableShare }) => [count, retryableShare])).toEqual([
      [2, 1],
      [1, 1],
    ])
    expect(groups.map(({ signature }) => signature.slice(0, 23)).toSorted()).toEqual([
      'CommandError (exit 1): ',
      'CommandError (exit 75):',
    ])
    const where = ['--where', 'item.size > 10 && error.exit_code == 75']
    expect((await fixture.letters('r1', ...where)).map(({ key }) => key)).toEqual(['b'])
    const before25 = fixture.starts().length
    expect(await fixture.json('dlq', 'retry', 'r1', ...where, '--dry-run')).toMatchObject({
      chosen: [{ run: 'r1', items: 1, steps: [], left: 0 }],
    })
    expect(fixture.starts()).toHaveLength(before25)
    fixture.mend('a', 'b')
    expect((await fixture.here('dlq', 'retry', 'r1', ...where)).code).toBe(3)
    expect(fixture.starts().slice(before25)).toEqual(['b'])
    expect((await fixture.here('dlq', 'retry', 'r1', '--group', 'CommandError (exit 75)')).code).toBe(3)
    expect(fixture.starts().slice(before25)).toEqual(['b', 'a'])
  })

  test('25: --canary redrives the others only if the first ones succeed', async () => {
    await begin({}, ['a', 'b', 'c', 'd'])
    const count = fixture.starts().length
    const refused = await fixture.json<{ runs: unknown[] }>('dlq', 'retry', 'r1', '--canary', '2')
    expect(refused.runs).toMatchObject([{ redriven: 2, succeeded: 0, failed: 2, isCanaryFailed: true }])
    expect(fixture.starts().slice(count).toSorted()).toEqual(['a', 'b'])
    fixture.mend('a', 'b', 'c', 'd')
    const done = await fixture.json<{ runs: unknown[] }>('dlq', 'retry', 'r1', '--canary', '2')
    expect(done.runs).toMatchObject([
      { redriven: 4, succeeded: 4, failed: 0, isCanaryFailed: false, state: 'succeeded' },
    ])
  })

  test('25: the steps after the map run again with --reduce, and not without it', async () => {
    await begin(
      {
        reduce: [
          { id: 'sum', shell: 'echo "${map.succeeded}" >> sums' },
          { id: 'last', shell: 'echo last >> sums' },
        ],
      },
      ['b', 'c'],
    )
    fixture.mend('b')
    expect((await fixture.here('dlq', 'retry', 'r1', 'b')).code).toBe(3)
    expect(fixture.read('sums')).toBe('4\nlast\n')
    fixture.mend('c')
    expect((await fixture.here('dlq', 'retry', 'r1', '--reduce')).code).toBe(0)
    expect(fixture.read('sums')).toBe('4\nlast\n6\nlast\n')
    expect(await fixture.state()).toBe('succeeded')
  })

  test('14: a redrive lowers the count of a stopped map, and a resume continues with its pending items', async () => {
    await begin({ errors: { max_failures: 2 }, map: { max_parallel: 1 } }, ['a', 'b'], 1)
    expect(await fixture.counts()).toMatchObject({ fresh: 4, failed: 2 })
    fixture.mend('a', 'b')
    const ended = await fixture.here('dlq', 'retry', 'r1')
    expect(ended.code, ended.stderr).toBe(0)
    expect(fixture.starts().toSorted()).toEqual(['a', 'a', 'b', 'b'])
    expect(await fixture.counts()).toMatchObject({ fresh: 4, failed: 0, succeeded: 2 })
    expect(await fixture.state()).toBe('interrupted')
    expect((await fixture.here('resume', 'r1')).code).toBe(0)
    expect(fixture.starts().slice(4)).toEqual(['c', 'd', 'e', 'f'])
    expect(await fixture.state()).toBe('succeeded')
  })

  test('14: a map that is still stopped after a redrive stays failed, and its pending items wait', async () => {
    await begin({ errors: { max_failures: 2 }, map: { max_parallel: 1 } }, ['a', 'b'], 1)
    expect((await fixture.here('dlq', 'retry', 'r1')).code).toBe(1)
    expect(await fixture.state()).toBe('failed')
    expect(await fixture.counts()).toMatchObject({ fresh: 4, failed: 2 })
    expect(fixture.starts().toSorted()).toEqual(['a', 'a', 'b', 'b'])
  })

  test('26: edit changes the data of an item and keeps the old one; ack closes a letter without a retry', async () => {
    const before = '[ "${item.size}" != 0 ] || exit 9'
    await begin(
      {
        items: [
          { id: 'x', size: 0 },
          { id: 'y', size: 0 },
          { id: 'z', size: 1 },
        ],
        before,
      },
      [],
    )
    const edited = await fixture.here(
      'dlq',
      'edit',
      'r1/map',
      'x',
      '--input',
      '{"id":"x","size":5}',
      '--reason',
      'typo',
    )
    expect(edited.code, edited.stderr).toBe(0)
    const { changes, data } = await fixture.showLetter('r1/map', 'x')
    expect(data).toEqual({ id: 'x', size: 5 })
    expect(changes).toMatchObject([
      { type: 'input_changed', detail: { reason: 'typo', before: { key: 'x', value: { id: 'x', size: 0 } } } },
    ])
    expect((await fixture.here('dlq', 'ack', 'r1/map', 'y')).code).toBe(2)
    expect((await fixture.here('dlq', 'ack', 'r1/map', 'y', '--reason', 'withdrawn')).code).toBe(0)
    expect((await fixture.here('dlq', 'retry', 'r1')).code).toBe(3)
    expect(fixture.starts().filter((key) => key !== 'z')).toEqual(expect.arrayContaining(['x', 'y', 'x']))
    expect(await fixture.letters('r1')).toEqual([])
    expect(await fixture.counts()).toMatchObject({ succeeded: 2, failed: 1 })
  })

  test('26: an edit that is no JSON or too large is refused, and changes nothing', async () => {
    await begin({}, ['b'])
    const none = await fixture.here('dlq', 'edit', 'r1/map', 'b', '--input', '{')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--input is not valid JSON')])
    fixture.write('large.json', JSON.stringify('x'.repeat(1024 ** 2)))
    const large = await fixture.here('dlq', 'edit', 'r1/map', 'b', '--input', `@${fixture.path('large.json')}`)
    expect([large.code, large.stderr]).toEqual([2, expect.stringContaining('larger than 1 MiB')])
    expect((await fixture.showLetter('b')).changes).toEqual([])
  })

  test('24: letters are found by key, id, beginning and near name, in pages and files, and closed ones are purged', async () => {
    await begin({ items: ['one', 'once', 'two'] }, ['one', 'once', 'two'])
    expect((await fixture.showLetter('0000002.two')).key).toBe('two')
    expect((await fixture.showLetter('tw')).key).toBe('two')
    expect((await fixture.showLetter('r1/map/onc')).key).toBe('once')
    const several = await fixture.here('dlq', 'show', 'on')
    expect([several.code, several.stderr]).toEqual([4, expect.stringContaining('2 dead letters fit on')])
    const near = await fixture.here('dlq', 'show', 'r1/map', 'tow')
    expect([near.code, near.stderr]).toEqual([4, expect.stringContaining('Did you mean two?')])
    const first = await fixture.json<{ letters: { key: string }[]; next: string }>('dlq', 'list', '--limit', '2')
    const rest = await fixture.letters('--after', first.next)
    expect(new Set([...first.letters, ...rest].map(({ key }) => key))).toEqual(new Set(['one', 'once', 'two']))
    const csv = (await fixture.here('dlq', 'export', 'r1', '--format', 'csv')).stdout.split('\r\n')
    expect(csv).toHaveLength(5)
    expect(csv[0]).toMatch(/^letter,kind,run,map,/)
    const lines = (await fixture.here('dlq', 'export', 'r1', '--format', 'ndjson')).stdout.split('\n').filter(Boolean)
    expect(lines.map((line) => (JSON.parse(line) as { data: string }).data).toSorted()).toEqual(['once', 'one', 'two'])
    fixture.mend('two')
    await fixture.here('dlq', 'retry', 'two')
    expect(await fixture.json('dlq', 'purge', '--older-than', '0s', '--dry-run')).toEqual({ found: 1, removed: 0 })
    expect(await fixture.json('dlq', 'purge', '--older-than', '0s', '--yes')).toEqual({ found: 1, removed: 1 })
    expect(await fixture.json('dlq', 'stats')).toMatchObject({ open: 2, closed: 0, retryable: 2, byKind: { item: 2 } })
  })
})
