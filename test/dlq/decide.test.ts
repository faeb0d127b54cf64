/** Undecided items and tasks, decided by a person: resume.md's `done` and `rerun` for items. On both stores. Needs a build. */
import { mkdirSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { openDurable } from 'reprise/durable'
import { onBothStores } from '../workflow/both-stores.js'
import { killedAt } from '../workflow/cli-fixture.js'
import { LetterFixture, type MapText } from './letter-fixture.js'

/** Item b is held at its first attempt until the process is killed; later it fails while there is a file `fail-b`. */
const HELD: MapText = {
  items: ['a', 'b', 'c'],
  before: '[ -e go ] || { [ "${item.key}" != b ] || sleep 60; }',
  map: { on_interrupt: 'fail' },
}

onBothStores('an undecided item', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())

  /** The run has ended, with b undecided. */
  const begin = async (text: MapText = {}): Promise<void> => {
    fixture = new LetterFixture({ ...HELD, ...text })
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.starts().includes('b'))
    await fixture.isClean()
    fixture.write('go', '')
    const resumed = await fixture.here('resume', 'r1')
    expect(resumed.code, resumed.stderr).toBe(3)
    expect((await fixture.letters('r1')).find(({ key }) => key === 'b')).toMatchObject({ state: 'undecided' })
    fixture.write('starts', '')
  }

  test('that took effect succeeds with the given result, and the run with it', async () => {
    await begin({ reduce: [{ id: 'sum', shell: 'echo "${map.succeeded}" >> sums' }], items: ['b'] })
    const decided = await fixture.here(
      ...['dlq', 'decide', 'r1/map', 'b', '--done', '--result', '{"invoice": 4711}'],
      ...['--reason', 'seen in the books', '--reduce'],
    )
    expect([decided.code, decided.stderr]).toEqual([
      0,
      expect.stringContaining('1 letter decided: counted as succeeded.'),
    ])
    expect(fixture.starts()).toEqual([])
    expect(await fixture.state()).toBe('succeeded')
    expect(await fixture.counts()).toMatchObject({ total: 1, succeeded: 1, undecided: 0 })
    expect(await fixture.results('results')).toMatchObject([
      { key: 'b', state: 'succeeded', result: { invoice: 4711 } },
    ])
    expect(fixture.read('sums')).toBe('0\n1\n')
    expect(await fixture.letters()).toEqual([])
    const { closed, changes } = await fixture.showLetter('r1/map', 'b')
    expect(closed).toMatchObject({ by: 'decided' })
    expect(changes).toMatchObject([{ type: 'decided', detail: { answer: 'done', reason: 'seen in the books' } }])
  })

  test('that did not take effect runs again under its number, and has the attempts that are left', async () => {
    await begin({ items: ['b'], errors: { item_retry: { attempts: 2, initial_delay: '1ms' } } })
    fixture.fail('b')
    const failed = await fixture.here('dlq', 'decide', 'r1/map', 'b', '--rerun')
    expect(failed.code, failed.stderr).toBe(3)
    expect(fixture.read('starts')).toBe('b 1\nb 2\n')
    const [letter] = await fixture.letters('r1')
    expect(letter).toMatchObject({ key: 'b', state: 'dead', generation: 1, attempts: 2 })
    const again = await fixture.here('dlq', 'decide', 'r1/map', 'b', '--rerun')
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('is not undecided')])
    expect(again.stderr).toContain('next: reprise dlq retry r1/map/0000000.b')
    fixture.mend('b')
    expect((await fixture.here('dlq', 'retry', 'r1')).code).toBe(0)
    expect(await fixture.state()).toBe('succeeded')
  })

  test('is decided with all others of its run, and names the commands that do it', async () => {
    await begin()
    const shown = await fixture.here('dlq', 'show', 'r1/map', 'b')
    expect(shown.stderr).toBe(
      'next: reprise dlq decide r1/map/0000001.b --done\nnext: reprise dlq decide r1/map/0000001.b --rerun\n',
    )
    const refused = await fixture.here('dlq', 'ack', 'r1/map', 'b', '--reason', 'x')
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining('next: reprise dlq decide r1/map/0000001.b --done'),
    ])
    const stays = await fixture.here('resume', 'r1')
    expect([stays.code, stays.stderr]).toEqual([4, expect.stringMatching(/of map map (is|are) undecided/)])
    expect(stays.stderr).toContain('next: reprise dlq decide r1 --rerun')
    const left = await fixture.here('dlq', 'retry', 'r1')
    expect(left.stderr).toContain('find out whether they took effect, then use `dlq decide`')
    const ended = await fixture.json<{ answer: string; runs: unknown[] }>('dlq', 'decide', 'r1', '--rerun')
    expect(ended).toMatchObject({ answer: 'rerun', runs: [{ run: 'r1', state: 'succeeded', failed: 0 }] })
    expect(await fixture.counts()).toMatchObject({ total: 3, succeeded: 3 })
    const none = await fixture.here('dlq', 'decide', 'r1', '--rerun')
    expect([none.code, none.stderr]).toEqual([0, 'No undecided item or task fits.\n'])
  })

  test('that took effect lowers the count of a map that was stopped', async () => {
    fixture = new LetterFixture({
      ...HELD,
      errors: { max_failures: 1 },
      map: { on_interrupt: 'fail', max_parallel: 1 },
    })
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.starts().includes('b'))
    await fixture.isClean()
    fixture.write('go', '')
    expect((await fixture.here('resume', 'r1')).code).toBe(1)
    expect(await fixture.counts()).toMatchObject({ succeeded: 1, undecided: 1, fresh: 1 })
    const decided = await fixture.here('dlq', 'decide', 'r1/map', 'b', '--done')
    expect([decided.code, decided.stderr]).toEqual([0, expect.stringContaining('next: reprise resume r1')])
    expect((await fixture.here('resume', 'r1')).code).toBe(0)
    expect(await fixture.counts()).toMatchObject({ total: 3, succeeded: 3 })
  })

  test('is decided once by two processes at a time', async () => {
    await begin({ items: ['b'] })
    const both = await Promise.all(
      ['1', '2'].map((result) => fixture.here('dlq', 'decide', 'r1/map', 'b', '--done', '--result', result)),
    )
    const codes = both.map(({ code }) => code)
    expect(codes, both.map(({ stderr }) => stderr).join('\n')).toContain(0)
    expect(codes.every((code) => code === 4 || code === 0)).toBe(true)
    const { changes } = await fixture.showLetter('r1/map', 'b')
    expect(changes.filter(({ type }) => type === 'decided')).toHaveLength(1)
  })

  test.each([
    [[], 'neither --done nor --rerun was given'],
    [['--done', '--rerun'], '--done and --rerun were both given'],
    [['--rerun', '--result', '1'], '--result is the result of an attempt that took effect'],
    [['--done', '--result', '{'], '--result is not valid JSON'],
    [['--done', '--result', '@nothing.json'], '--result @nothing.json cannot be read'],
  ])('refuses %j as a wrong use', async (flags, said) => {
    fixture = new LetterFixture()
    const refused = await fixture.here('dlq', 'decide', 'r1/map', 'b', ...flags)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)])
  })
})

onBothStores('an undecided task', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())

  test('of a program gets the result that a person found, and a caller of the program gets it', async () => {
    fixture = new LetterFixture()
    mkdirSync(fixture.path('.reprise'))
    const durable = await openDurable(fixture.store)
    const charge = durable.task('charge', { attempts: 1 }, async (input: { order: number }) => input.order)
    await charge.run({ order: 42 }, { id: 'order-42' })
    await fixture.ledger((ledger) => leaveUndecided(ledger))
    const decided = await fixture.here('dlq', 'decide', 'charge/order-42', '--done', '--result', '43')
    expect([decided.code, decided.stderr]).toEqual([0, '1 letter decided: counted as succeeded.\n'])
    expect(await charge.run({ order: 42 }, { id: 'order-42' })).toBe(43)
    await durable.close()
  })

  test('that is a step is decided with a resume, which the error names', async () => {
    fixture = new LetterFixture()
    fixture.write('workflow.yaml', 'steps: [{ id: pay, shell: "echo x", on_interrupt: fail }]')
    await killedAt(fixture, 'attempt_started', 'pay')
    expect((await fixture.here('resume', 'r1')).code).toBe(4)
    const refused = await fixture.here('dlq', 'decide', 'r1/pay', '--done')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('Step pay of run r1 is undecided')])
    expect(refused.stderr).toContain('next: reprise resume r1 --done pay')
    const left = await fixture.here('dlq', 'decide', 'r1', '--done')
    expect([left.code, left.stderr]).toEqual([0, expect.stringContaining('next: reprise resume r1 --rerun pay')])
  })
})

/** As after the loss of a process whose task has `onInterrupt: 'fail'`. */
async function leaveUndecided(ledger: Parameters<Parameters<LetterFixture['ledger']>[0]>[0]): Promise<void> {
  const key = { scopeKind: 'task', scope: 'charge', id: 'order-42' } as const
  await ledger.transact({ tasks: [key] }, (view) => {
    const task = view.task(key)
    if (task === undefined) throw new Error('there is no task')
    const { result: _result, ...rest } = task
    const undecided = { ...rest, status: 'undecided', stopReason: 'interrupted' } as const
    const letter = { ...key, generation: task.generation, atMs: view.now, signature: '', failure: null }
    return { tasks: [undecided], dead: [{ ...letter, stopReason: 'interrupted' as const }], result: null }
  })
}
