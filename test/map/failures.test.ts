/** What failures of items mean for a map, and for the run around it; on both stores. */
import { afterEach, describe, expect, test } from 'vitest'
import { MapFixture, noting, STORES } from './map-fixture.js'

describe.each(STORES)('a map on %s', (kind) => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const begin = async (): Promise<MapFixture> => (fixture = await MapFixture.in(kind))
  const counts = () => fixture.end.counts
  const failing = (keys: string): string => noting(`case "\${item}" in ${keys}) exit 3;; esac`)

  test('hands every item to the template once, and its results to reduce', async () => {
    await begin()
    const state = await fixture.run({
      setup: [{ shell: 'echo a; echo b; echo c', capture: 'names', capture_format: 'lines' }],
      map: {
        input: '${names}',
        agent_template: [{ shell: noting('echo "did ${item} ${item.index}"'), capture: 'done' }],
      },
      reduce: [
        { shell: 'echo "${map.total} ${map.succeeded} ${map.failed}" >> sums; cat "${map.results_file}" >> sums' },
      ],
    })
    expect(state).toBe('succeeded')
    expect(fixture.lines('starts').toSorted()).toEqual(['a 1', 'b 1', 'c 1'])
    expect(fixture.results()).toEqual([
      { index: 0, key: 'a', state: 'succeeded', result: 'did a 0', attempts: 1 },
      { index: 1, key: 'b', state: 'succeeded', result: 'did b 1', attempts: 1 },
      { index: 2, key: 'c', state: 'succeeded', result: 'did c 2', attempts: 1 },
    ])
    expect(fixture.lines('sums')[0]).toBe('3 3 0')
    expect(fixture.lines('sums')).toHaveLength(4)
  })

  test('13, 14: an item that fails for good becomes a dead letter, reduce runs, and the run completes with failures', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: ['a', 'bad', 'c'], agent_template: [{ shell: failing('bad') }] },
      reduce: [{ shell: 'echo "${map.dead} ${map.failed}" >> sums' }],
      error_policy: { item_retry: { attempts: 3, initial_delay: '1ms' } },
    })
    expect(state).toBe('completed_with_failures')
    expect(fixture.lines('starts').filter((line) => line.startsWith('bad'))).toEqual(['bad 1', 'bad 2', 'bad 3'])
    expect(fixture.lines('sums')).toEqual(['1 1'])
    expect(counts()).toMatchObject({ total: 3, succeeded: 2, dead: 1, skipped: 0, pending: 0 })
    const letters = await fixture.look((ledger) => ledger.deadLetters({ scope: 'import-1/map' }))
    expect(letters).toMatchObject([{ id: '0000001.bad', stopReason: 'attempts_exhausted' }])
    expect(fixture.results('failed')).toMatchObject([{ key: 'bad', state: 'dead', attempts: 3 }])
  })

  test('13: without item_retry an item has one attempt', async () => {
    await begin()
    await fixture.run({ map: { input: ['bad'], agent_template: [{ shell: failing('bad') }] } })
    expect(fixture.lines('starts')).toEqual(['bad 1'])
  })

  test('14: skip leaves no open dead letter, and counts the item as skipped', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: ['a', 'bad'], agent_template: [{ shell: failing('bad') }] },
      error_policy: { on_item_failure: 'skip' },
    })
    expect(state).toBe('completed_with_failures')
    expect(counts()).toMatchObject({ succeeded: 1, skipped: 1, dead: 0 })
    expect(await fixture.look((ledger) => ledger.deadLetters({ scope: 'import-1/map' }))).toEqual([])
  })

  test.each([
    ['a count', 1, 'succeeded'],
    ['a share of all items', '50%', 'succeeded'],
    ['a share that is exceeded', '20%', 'completed_with_failures'],
  ])('14: failures within %s that is tolerated leave the run %s %s', async (_name, tolerate, expected) => {
    await begin()
    const state = await fixture.run({
      map: { input: ['a', 'bad'], agent_template: [{ shell: failing('bad') }] },
      error_policy: { tolerate },
    })
    expect(state).toBe(expected)
  })

  test('14: as many failures as a tolerated share allows leave the run succeeded, whatever the share is', async () => {
    await begin()
    fixture.write('work.mjs', 'export default ({ with: n }) => { if (n <= 29) throw new Error("no") }')
    const state = await fixture.run({
      map: {
        input: { range: [1, 100] },
        agent_template: [{ script: { module: './work.mjs', with: '${item}' } }],
      },
      error_policy: { tolerate: '29%' },
    })
    expect(counts()).toMatchObject({ dead: 29, succeeded: 71 })
    expect(state).toBe('succeeded')
  })

  test('14: stop ends the map at the first failure, without reduce; what has not begun stays pending', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: { range: [1, 50] }, max_parallel: 1, agent_template: [{ shell: failing('3') }] },
      reduce: [{ shell: 'echo ran >> sums' }],
      error_policy: { on_item_failure: 'stop' },
    })
    expect(state).toBe('failed')
    expect(fixture.lines('starts')).toEqual(['1 1', '2 1', '3 1'])
    expect(counts()).toMatchObject({ total: 50, succeeded: 2, dead: 1, pending: 47 })
    expect(fixture.end.halted).toMatchObject({ kind: 'stop', item: '0000002.3' })
    expect(fixture.lines('sums')).toEqual([])
    expect(fixture.results('pending')).toHaveLength(47)
  })

  test('14: the failure that reaches max_failures stops the map, and no item begins after it', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: { range: [1, 60] }, max_parallel: 4, agent_template: [{ shell: noting('exit 3') }] },
      error_policy: { max_failures: 5 },
    })
    expect(state).toBe('failed')
    const { dead, pending } = counts()
    expect(dead).toBeGreaterThanOrEqual(5)
    // Three others may have run when the fifth failed.
    expect(dead).toBeLessThanOrEqual(8)
    expect(dead + pending).toBe(60)
    expect(fixture.lines('starts')).toHaveLength(dead)
    expect(fixture.end.halted).toMatchObject({ kind: 'max_failures', limit: 5 })
  })

  test('14: a share of failures above the threshold stops the map once ten items have ended', async () => {
    await begin()
    const state = await fixture.run({
      map: { input: { range: [1, 200] }, max_parallel: 2, agent_template: [{ shell: noting('exit 3') }] },
      error_policy: { failure_threshold: 0.2 },
    })
    expect(state).toBe('failed')
    expect(fixture.end.halted).toMatchObject({ kind: 'failure_threshold' })
    expect(counts().dead).toBeGreaterThanOrEqual(10)
    expect(counts().pending).toBeGreaterThan(0)
  })

  test('14: a share of failures that only the last items make too large stops the map too, without reduce', async () => {
    await begin()
    fixture.write('work.mjs', 'export default () => { throw new Error("no") }')
    const state = await fixture.run({
      map: { input: { range: [1, 15] }, max_parallel: 15, agent_template: [{ script: { module: './work.mjs' } }] },
      reduce: [{ shell: 'echo ran >> sums' }],
      error_policy: { failure_threshold: 0.2 },
    })
    expect(state).toBe('failed')
    expect(fixture.end.halted).toMatchObject({ kind: 'failure_threshold' })
    expect(fixture.lines('sums')).toEqual([])
  })

  test('13: an exit code in halt_on stops the map, and the item is not retried', async () => {
    await begin()
    const state = await fixture.run({
      map: {
        input: { range: [1, 30] },
        max_parallel: 1,
        agent_template: [{ shell: noting('[ ${item} != 4 ] || exit 255') }],
      },
      error_policy: { item_retry: { attempts: 5, initial_delay: '1ms' }, halt_on: [255] },
    })
    expect(state).toBe('failed')
    expect(fixture.lines('starts')).toEqual(['1 1', '2 1', '3 1', '4 1'])
    expect(fixture.end.halted).toEqual({ kind: 'halt_on', item: '0000003.4', exitCode: 255 })
  })

  test('13: an error of a script that says halt stops the map', async () => {
    await begin()
    fixture.write(
      'work.mjs',
      'export default ({ with: n }) => { if (n === 2) throw Object.assign(new Error("no"), { halt: true }); return n }',
    )
    const state = await fixture.run({
      map: {
        input: [1, 2, 3, 4],
        max_parallel: 1,
        agent_template: [{ script: { module: './work.mjs', with: '${item}' } }],
      },
    })
    expect(state).toBe('failed')
    expect(fixture.end.halted).toMatchObject({ kind: 'halt_on', exitCode: null })
    expect(counts()).toMatchObject({ succeeded: 1, dead: 1, pending: 2 })
  })

  test('halt: now aborts the items that run, which stay pending', async () => {
    await begin()
    const state = await fixture.run({
      map: {
        input: ['slow', 'bad', 'later'],
        max_parallel: 2,
        agent_template: [{ shell: noting('[ ${item} = slow ] && sleep 60; exit 3') }],
      },
      error_policy: { on_item_failure: 'stop', halt: 'now' },
    })
    expect(state).toBe('failed')
    expect(counts()).toMatchObject({ dead: 1, pending: 2 })
  })

  test('max_retries is charged exactly, over all items, and the denied item says why', async () => {
    await begin()
    await fixture.run({
      map: { input: { range: [1, 12] }, max_parallel: 6, agent_template: [{ shell: noting('exit 3') }] },
      error_policy: { item_retry: { attempts: 4, initial_delay: '1ms' }, max_retries: 7, max_retries_per_item: 2 },
    })
    expect(fixture.lines('starts')).toHaveLength(12 + 7)
    const tasks = await fixture.look((ledger) => ledger.list({ scope: 'import-1/map', limit: 100 }))
    const reasons = new Set(tasks.map(({ progress }) => progress.budgetReason))
    expect(reasons).toContain('max_retries_exhausted')
    expect(tasks.every(({ stopReason }) => stopReason === 'budget_denied')).toBe(true)
  })

  test('10: an open breaker holds the map and fails no item', { timeout: 60_000 }, async () => {
    await begin()
    const state = await fixture.run({
      breakers: { warehouse: { failure_threshold: 3, recovery_timeout: '300ms' } },
      map: {
        input: { range: [1, 40] },
        max_parallel: 4,
        agent_template: [{ shell: noting('[ -e up ] || { [ $(wc -l < starts) -lt 6 ] || touch up; exit 3; }') }],
      },
      error_policy: { item_retry: { attempts: 9, initial_delay: '1ms', breaker: 'warehouse' } },
    })
    expect(state).toBe('succeeded')
    expect(counts()).toMatchObject({ total: 40, succeeded: 40 })
  })

  test('on_item_error is done once for each item that failed for good', async () => {
    await begin()
    await fixture.run({
      map: {
        input: ['a', 'bad', 'worse'],
        agent_template: [{ shell: failing('bad|worse') }],
        on_item_error: [{ shell: 'echo "${item.key} $REPRISE_ITEM_ERROR" >> given-up' }],
      },
      error_policy: { item_retry: { attempts: 2, initial_delay: '1ms' } },
    })
    const lines = fixture.lines('given-up').toSorted()
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^bad exit code 3/)
    expect(counts()).toMatchObject({ total: 3, dead: 2, succeeded: 1 })
  })

  test('0 items are a success that says so', async () => {
    await begin()
    expect(await fixture.run({ map: { input: [], agent_template: [{ shell: 'true' }] } })).toBe('succeeded')
    expect(counts().total).toBe(0)
  })
})
