/** Maps with `batch`: several items for one attempt, each with an end of its own. Needs no build. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MapFixture, STORES } from './map-fixture.js'

/** A program that reads the items of its batch and does what their values say. */
const WORKER = `
import { appendFileSync, readFileSync } from 'node:fs'
const items = readFileSync(process.env.REPRISE_ITEMS_FILE, 'utf8').trim().split('\\n').map((line) => JSON.parse(line))
appendFileSync('batches', items.map(({ key }) => key).join(' ') + '\\n')
const say = (line) => appendFileSync(process.env.REPRISE_RESULTS, JSON.stringify(line) + '\\n')
for (const { key, index, value, attempt } of items) {
  if (value.crash) process.exit(value.crash)
  if (value.fails >= attempt) say({ key, error: value.error ?? 'item failed' })
  else if (!value.silent) say({ key, result: { index, attempt } })
}
`

const item = (id: string, more: object = {}): object => ({ id, ...more })
const many = (count: number): object[] => Array.from({ length: count }, (_, index) => item(`k${index}`))

describe.each(STORES)('a map with batch on %s', (kind) => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const begin = async (): Promise<MapFixture> => {
    fixture = await MapFixture.in(kind)
    fixture.write('worker.mjs', WORKER)
    return fixture
  }
  const template = [{ run: ['node', 'worker.mjs'] }]
  const attemptsOf = async (index: number): Promise<string[]> => {
    const rows = await fixture.look((ledger) => ledger.attemptsOfRun('import-1/map'))
    return rows
      .filter(({ id }) => id.startsWith(String(index).padStart(7, '0')))
      .map(({ attempt, execution, outcome }) => `${attempt}.${execution} ${outcome}`)
  }

  test('17: hands up to N items to an attempt, and keeps what each of them gave', async () => {
    await begin()
    expect(await fixture.run({ map: { input: many(10), batch: 4, max_parallel: 1, agent_template: template } })).toBe(
      'succeeded',
    )
    expect(fixture.lines('batches')).toEqual(['k0 k1 k2 k3', 'k4 k5 k6 k7', 'k8 k9'])
    expect(fixture.results().map(({ result }) => result)).toEqual(many(10).map((_, index) => ({ index, attempt: 1 })))
    expect(readdirSync(path.join(fixture.directory, 'state/runs/import-1/map'))).not.toContain('batches')
  })

  test('17: fails an item that has an error alone, and retries it by item_retry', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: [item('a'), item('b', { fails: 1 }), item('c', { fails: 9 })], batch: 3, agent_template: template },
      error_policy: { item_retry: { attempts: 3, initial_delay: '1ms', jitter: false } },
    })
    expect(state).toBe('completed_with_failures')
    expect(fixture.results().map(({ key, state: how, attempts }) => [key, how, attempts])).toEqual([
      ['a', 'succeeded', 1],
      ['b', 'succeeded', 2],
      ['c', 'dead', 3],
    ])
    expect(await attemptsOf(1)).toEqual(['1.1 failure', '2.1 success'])
    expect(fixture.end.recovered).toBe(1)
  })

  test('17: splits a batch that fails once and free, and goes on with its items alone', async () => {
    await begin()
    const state = await fixture.run({
      map: {
        input: [item('a', { silent: true }), item('b', { crash: 3 }), item('c')],
        batch: 3,
        max_parallel: 1,
        agent_template: template,
      },
      error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' }, max_retries: 1 },
    })
    expect(state).toBe('completed_with_failures')
    expect(fixture.lines('batches')).toEqual(['a b c', 'a', 'b', 'c', 'b'])
    expect(await attemptsOf(0)).toEqual(['1.1 interrupted', '1.2 success'])
    expect(await attemptsOf(1)).toEqual(['1.1 interrupted', '1.2 failure', '2.1 failure'])
    expect(fixture.results().map(({ attempts }) => attempts)).toEqual([1, 2, 1])
  })

  test('17: keeps what was said before the batch failed, and splits the others', async () => {
    await begin()
    const input = [item('a'), item('b', { fails: 9 }), item('c', { crash: 3 }), item('d')]
    await fixture.run({ map: { input, batch: 4, max_parallel: 1, agent_template: template } })
    expect(fixture.lines('batches')).toEqual(['a b c d', 'c', 'd'])
    expect(fixture.results().map(({ state }) => state)).toEqual(['succeeded', 'dead', 'dead', 'succeeded'])
  })

  test('17: names the line that cannot be, and fails nothing that has a line of its own', async () => {
    await begin()
    const lines = '{"key":"a","result":1}\\n{"key":"zz","result":2}\\n'
    await fixture.run({
      map: {
        input: [item('a'), item('b')],
        batch: 2,
        agent_template: [{ shell: `printf '${lines}' >> "$REPRISE_RESULTS"` }],
      },
    })
    const [a, b] = fixture.results()
    expect(a).toMatchObject({ state: 'succeeded', result: 1 })
    expect(b).toMatchObject({
      state: 'dead',
      error: expect.stringMatching(/line 1 names "a", which is no item of the batch/),
    })
  })

  test('17: notes the line that cannot be where its items succeed alone', async () => {
    await begin()
    const shell = `[ "$REPRISE_BATCH_SIZE" = 1 ] || printf '{"key":"zz","result":2}\\n' >> "$REPRISE_RESULTS"`
    const state = await fixture.run({
      map: { input: [item('a'), item('b')], batch: 2, agent_template: [{ shell }] },
    })
    expect(state).toBe('succeeded')
    expect(fixture.told('map_note').map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^a batch is split, and its items without a line \(2\) run again alone: .*line 1 names "zz"/,
      ),
    ])
  })

  test('17: gives its steps the items as a value and as a file, and a key that repeats with the batch', async () => {
    await begin()
    const show =
      'printf "%s" "${items}" > seen; cp ${items_file} file; echo "$REPRISE_BATCH_SIZE $REPRISE_IDEMPOTENCY_KEY" > env'
    await fixture.run({ map: { input: ['x y', '$(touch pwned)'], batch: 5, agent_template: [{ shell: show }] } })
    const seen = JSON.parse(fixture.read('seen')) as { key: string; value: string }[]
    expect(seen.map(({ value }) => value)).toEqual(['x y', '$(touch pwned)'])
    expect(fixture.lines('file').map((line) => JSON.parse(line) as object)).toEqual(seen)
    expect(fixture.read('env')).toMatch(/^2 .+\+1\.[0-9a-f]{16}\//)
    expect(fixture.read('pwned')).toBe('')
  })

  test('17: keeps items of one key in different batches', async () => {
    await begin()
    const input = [item('a'), item('a'), item('b')]
    await fixture.run({ map: { input, batch: 3, max_parallel: 1, agent_template: template } })
    expect(fixture.lines('batches')).toEqual(['a', 'a b'])
    expect(fixture.results().map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  test('17: stops at agent_timeout, keeps the lines there are, and splits the others', async () => {
    await begin()
    const shell = [
      'echo "$REPRISE_BATCH_SIZE" >> sizes',
      '[ "$REPRISE_BATCH_SIZE" = 1 ] && exit 0',
      `printf '{"key":"a","result":"early"}\\n' >> "$REPRISE_RESULTS"; sleep 60`,
    ].join('\n')
    await fixture.run({
      map: { input: [item('a'), item('b'), item('c')], batch: 3, agent_timeout: '1s', agent_template: [{ shell }] },
    })
    expect(fixture.results().map(({ state, result }) => [state, result])).toEqual([
      ['succeeded', 'early'],
      ['succeeded', null],
      ['succeeded', null],
    ])
    expect(fixture.lines('sizes')).toEqual(['3', '1', '1'])
  })

  test('17: does not split a batch that exits with a code of halt_on', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: [item('a', { crash: 9 }), item('b')], batch: 2, agent_template: template },
      error_policy: { item_retry: 3, halt_on: [9] },
    })
    expect(state).toBe('failed')
    expect(fixture.lines('batches')).toEqual(['a b'])
    expect(fixture.end.halted).toMatchObject({ kind: 'halt_on', exitCode: 9 })
  })

  test('22: keeps the log of a batch with every item that failed in it', async () => {
    await begin()
    const shell = `echo "said by a batch of $REPRISE_BATCH_SIZE"; printf '{"key":"b","error":"x"}\\n' >> "$REPRISE_RESULTS"`
    await fixture.run({ map: { input: [item('a'), item('b'), item('c')], batch: 3, agent_template: [{ shell }] } })
    const logs = readdirSync(path.join(fixture.directory, 'state/runs/import-1/map'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.log'))
    expect(logs.map((name) => path.basename(name))).toEqual(['0000001.b@1.1.1.log'])
    const [log = ''] = logs
    expect(readFileSync(path.join(fixture.directory, 'state/runs/import-1/map', log), 'utf8')).toBe(
      'said by a batch of 3\n',
    )
  })

  test('13: does on_item_error for each item that failed', async () => {
    await begin()
    await fixture.run({
      map: {
        input: [item('a', { fails: 9 }), item('b'), item('c', { fails: 9 })],
        batch: 3,
        agent_template: template,
        on_item_error: [{ shell: 'echo "${item.key} $REPRISE_ITEM_ERROR" >> given-up' }],
      },
    })
    expect(fixture.lines('given-up').toSorted()).toEqual(['a item failed', 'c item failed'])
  })

  test('12: with checkpoint: step, a batch that was stopped goes on behind its finished steps', async () => {
    await begin()
    const wait = 'touch began; while [ ! -e go ]; do sleep 0.05; done; cp "$REPRISE_ITEMS_FILE" second'
    const document = {
      map: {
        input: many(3),
        batch: 3,
        checkpoint: 'step',
        agent_template: [
          { id: 'first', shell: 'echo first >> firsts' },
          { id: 'second', shell: wait },
        ],
      },
    }
    const stop = new AbortController()
    const ended = fixture.run(document, { signal: stop.signal })
    await vi.waitUntil(() => existsSync(path.join(fixture.directory, 'began')), { timeout: 60_000 })
    stop.abort()
    expect(await ended).toBe('interrupted')
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('firsts')).toEqual(['first'])
    expect(fixture.lines('second')).toHaveLength(3)
    for (const index of [0, 1, 2]) expect(await attemptsOf(index)).toEqual(['1.1 interrupted', '1.2 success'])
  })

  test('22: stops the run where the items of a batch cannot be written, and fails none of them', async () => {
    await begin()
    mkdirSync(path.join(fixture.directory, 'state/runs/import-1/map'), { recursive: true, mode: 0o700 })
    writeFileSync(path.join(fixture.directory, 'state/runs/import-1/map/batches'), 'in the way')
    const document = { map: { input: many(3), batch: 3, agent_template: template } }
    await expect(fixture.run(document)).rejects.toThrow(/batches.* not a directory/)
    rmSync(path.join(fixture.directory, 'state/runs/import-1/map/batches'))
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.results().map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  })

  test('8: never runs more batches than max_parallel at a time', async () => {
    await begin()
    const shell = 'mkdir -p here; touch here/$$; ls here | wc -l >> counts; sleep 0.05; rm here/$$'
    await fixture.run({ map: { input: { range: [1, 60] }, batch: 5, max_parallel: 3, agent_template: [{ shell }] } })
    const counts = fixture.lines('counts').map(Number)
    expect(counts).toHaveLength(12)
    expect(Math.max(...counts)).toBeLessThanOrEqual(3)
  })
})

describe('a document with batch', () => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())

  test('leaves a variable of the shell that is called item to the shell', async () => {
    fixture = await MapFixture.in('sqlite')
    const shell = 'for item in a b; do echo "${item}" >> seen; done'
    await fixture.run({ map: { input: [1], batch: 2, agent_template: [{ shell }] } })
    expect(fixture.lines('seen')).toEqual(['a', 'b'])
  })

  test.each([
    [{ shell: 'echo ${item.key}' }, /`item` is unknown here: with `batch` an attempt works on several items/],
    [{ shell: 'echo "${item}"' }, /`item` is unknown here: with `batch` an attempt works on several items/],
    [{ run: ['echo', '${item}'] }, /refer to `items` or `items_file`/],
  ])('refuses %j', async (step, message) => {
    fixture = await MapFixture.in('sqlite')
    await expect(fixture.run({ map: { input: [1], batch: 2, agent_template: [step] } })).rejects.toThrow(message)
  })

  test.each([{ run: ['echo', '${items_file}'] }, { shell: 'cat "${items_file}"' }])(
    'says of %j that items are unknown without batch',
    async (step) => {
      fixture = await MapFixture.in('sqlite')
      const document = { map: { input: [1], agent_template: [step] } }
      await expect(fixture.run(document)).rejects.toThrow(/`batch: 50` beside `agent_template`/)
    },
  )
})
