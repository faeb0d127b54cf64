/** A map that is stopped and taken up again: nothing is lost, nothing that ended runs again; on both stores. */
import { afterEach, describe, expect, test } from 'vitest'
import { type MapDocument, MapFixture, noting, STORES } from './map-fixture.js'

describe.each(STORES)('a stopped map on %s', (kind) => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const begin = async (): Promise<MapFixture> => (fixture = await MapFixture.in(kind))

  /** Stops the run as soon as so many items have noted their start. */
  const runUntil = async (document: MapDocument, starts: number): Promise<string> => {
    const stop = new AbortController()
    const timer = setInterval(() => {
      if (fixture.lines('starts').length >= starts) stop.abort()
    }, 10)
    try {
      return await fixture.run(document, { signal: stop.signal })
    } finally {
      clearInterval(timer)
    }
  }

  test('6: processes the items that are left, and hands the results of all to reduce', async () => {
    await begin()
    const document: MapDocument = {
      map: {
        input: { range: [1, 20] },
        max_parallel: 2,
        agent_template: [{ shell: noting('sleep 0.05; echo "done ${item}"'), capture: 'text' }],
      },
      reduce: [{ shell: 'wc -l < "${map.results_file}" >> sums; echo "${map.succeeded}" >> sums' }],
    }
    expect(await runUntil(document, 8)).toBe('interrupted')
    const before = await fixture.look((ledger) => ledger.countTasks('import-1/map'))
    expect(await fixture.resume(document)).toBe('succeeded')
    const starts = fixture.lines('starts').map((line) => line.split(' ')[0])
    expect(new Set(starts).size).toBe(20)
    // What ran when the run was stopped runs again, and nothing else.
    expect(starts.length - 20).toBeLessThanOrEqual(2)
    expect(before.succeeded).toBeGreaterThan(0)
    expect(fixture.results().map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(
      Array(20).fill('succeeded 1'),
    )
    expect(fixture.lines('sums').map(Number)).toEqual([20, 20])
  })

  test('6: an input that has changed is told and not read again', async () => {
    await begin()
    fixture.write('items.txt', 'a\nb\nc\nd\n')
    const document: MapDocument = {
      map: { input: 'items.txt', max_parallel: 1, agent_template: [{ shell: noting('sleep 0.1') }] },
    }
    expect(await runUntil(document, 2)).toBe('interrupted')
    fixture.write('items.txt', 'x\ny\nz\n')
    expect(await fixture.resume(document)).toBe('succeeded')
    const keys = new Set(fixture.lines('starts').map((line) => line.split(' ')[0]))
    expect([...keys].toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(fixture.told('map_note').map(({ message }) => message)).toEqual([
      expect.stringContaining('items.txt had 8 bytes, and has 6 now') as string,
    ])
  })

  test('7: an item with 2 of 3 attempts used has 1 left', async () => {
    await begin()
    const document: MapDocument = {
      map: { input: ['a'], agent_template: [{ shell: noting('exit 3') }] },
      error_policy: { item_retry: { attempts: 3, backoff: 'fixed', initial_delay: '200ms' } },
    }
    expect(await runUntil(document, 2)).toBe('interrupted')
    expect(await fixture.resume(document)).toBe('completed_with_failures')
    const attempts = fixture.lines('starts').map((line) => Number(line.split(' ')[1]))
    expect(attempts.at(-1)).toBe(3)
    expect(new Set(attempts)).toEqual(new Set([1, 2, 3]))
    expect(fixture.results()).toMatchObject([{ state: 'dead', attempts: 3 }])
  })

  test('12: with checkpoint: step an interrupted attempt continues after its last finished step', async () => {
    await begin()
    const document: MapDocument = {
      map: {
        input: ['a'],
        checkpoint: 'step',
        agent_template: [
          { id: 'one', shell: 'echo one >> steps; echo 41', capture: 'n', capture_format: 'number' },
          { id: 'two', shell: noting('echo "two ${n}" >> steps; [ -e go ] || sleep 60') },
        ],
      },
    }
    expect(await runUntil(document, 1)).toBe('interrupted')
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('steps')).toEqual(['one', 'two 41', 'two 41'])
  })

  test('12: without it the interrupted attempt begins at its first step', async () => {
    await begin()
    const document: MapDocument = {
      map: {
        input: ['a'],
        agent_template: [
          { id: 'one', shell: 'echo one >> steps' },
          { id: 'two', shell: noting('[ -e go ] || sleep 60') },
        ],
      },
    }
    expect(await runUntil(document, 1)).toBe('interrupted')
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('steps')).toEqual(['one', 'one'])
  })

  test('12: a step of the template is retried by its own policy, uncounted by the item', async () => {
    await begin()
    const document: MapDocument = {
      map: {
        input: ['a'],
        agent_template: [
          {
            id: 'flaky',
            shell: noting(
              'echo "$REPRISE_STEP_ATTEMPT $REPRISE_IDEMPOTENCY_KEY" >> keys; [ $REPRISE_STEP_ATTEMPT = 3 ]',
            ),
            retry: { attempts: 3, initial_delay: '1ms' },
          },
        ],
      },
    }
    expect(await fixture.run(document)).toBe('succeeded')
    expect(fixture.lines('starts')).toEqual(['a 1', 'a 1', 'a 1'])
    const [first = '', ...others] = fixture.lines('keys').map((line) => line.split(' ')[1])
    expect(first).toMatch(/\/0000000\.a\/flaky$/)
    expect(new Set(others)).toEqual(new Set([first]))
    expect(fixture.results()).toMatchObject([{ state: 'succeeded', attempts: 1 }])
  })

  test('resume in setup and in reduce starts at the failed step, and the map does not run again', async () => {
    await begin()
    const document: MapDocument = {
      setup: [{ shell: 'echo setup >> steps; [ -e setup-ok ]' }],
      map: { input: ['a', 'b'], agent_template: [{ shell: noting() }] },
      reduce: [{ shell: 'echo "reduce ${map.succeeded}" >> steps; [ -e reduce-ok ]' }],
    }
    const again = { resetRetries: true }
    expect(await fixture.run(document)).toBe('failed')
    fixture.write('setup-ok', '')
    expect(await fixture.resume(document, again)).toBe('failed')
    fixture.write('reduce-ok', '')
    expect(await fixture.resume(document, again)).toBe('succeeded')
    expect(fixture.lines('steps')).toEqual(['setup', 'setup', 'reduce 2', 'reduce 2'])
    expect(fixture.lines('starts').toSorted()).toEqual(['a 1', 'b 1'])
  })

  test('a run that has ended with a map is not run again', async () => {
    await begin()
    const document: MapDocument = { map: { input: ['a'], agent_template: [{ shell: noting() }] } }
    expect(await fixture.run(document)).toBe('succeeded')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('starts')).toHaveLength(1)
  })

  test('two maps in one run keep their items apart', async () => {
    await begin()
    const mapOf = (id: string) => ({
      id,
      map: { input: ['x'], agent_template: [{ shell: `echo ${id} \${item} >> both` }] },
    })
    const plan = {
      steps: [mapOf('one'), mapOf('two'), { shell: 'echo "${steps.one.total} ${steps.two.succeeded}" >> both' }],
    }
    expect(await fixture.run({ mode: 'workflow', ...plan })).toBe('succeeded')
    expect(fixture.lines('both')).toEqual(['one x', 'two x', '1 1'])
  })

  test('bad input fails the run with its place, and a resume reads the mended input', async () => {
    await begin()
    fixture.write('items.ndjson', '{"id": 1}\n{"id": \n')
    const document: MapDocument = { map: { input: 'items.ndjson', agent_template: [{ shell: noting() }] } }
    expect(await fixture.run(document)).toBe('failed')
    expect(fixture.end.failure?.message).toMatch(/^items\.ndjson:2/)
    expect(fixture.lines('starts')).toEqual([])
    fixture.write('items.ndjson', '{"id": 1}\n{"id": 2}\n')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('starts').toSorted()).toEqual(['1 1', '2 1'])
  })
})
