/** Undecided items and tasks, decided by a person: resume.md's `done` and `rerun` for items. On both stores. Needs a build. */
import { mkdirSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { openDurable } from 'reprise/durable'
import { onBothStores } from '../workflow/both-stores.js'
import { killedAt } from '../workflow/cli-fixture.js'
import { LetterScene, type MapText } from './letter-fixture.js'

/** Item b is held at its first attempt until the process is killed; later it fails while there is a file `fail-b`. */
const HELD: MapText = {
  items: ['a', 'b', 'c'],
  before: '[ -e go ] || { [ "${item.key}" != b ] || sleep 60; }',
  map: { on_interrupt: 'fail' },
}

onBothStores('an undecided item', () => {
  let scene: LetterScene
  afterEach(() => scene.remove())

  /** The run has ended, with b undecided. */
  const begin = async (text: MapText = {}): Promise<void> => {
    scene = new LetterScene({ ...HELD, ...text })
    await scene.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.starts().includes('b'))
    await scene.isClean()
    scene.write('go', '')
    const resumed = await scene.here('resume', 'r1')
    expect(resumed.code, resumed.stderr).toBe(3)
    expect((await scene.letters('r1')).find(({ key }) => key === 'b')).toMatchObject({ state: 'undecided' })
    scene.write('starts', '')
  }

  test('that took effect succeeds with the given result, and the run with it', async () => {
    await begin({ reduce: [{ id: 'sum', shell: 'echo "${map.succeeded}" >> sums' }], items: ['b'] })
    const decided = await scene.here(
      ...['dlq', 'decide', 'r1/map', 'b', '--done', '--result', '{"invoice": 4711}'],
      ...['--reason', 'seen in the books', '--reduce'],
    )
    expect([decided.code, decided.stderr]).toEqual([
      0,
      expect.stringContaining('1 letter decided: counted as succeeded.'),
    ])
    expect(scene.starts()).toEqual([])
    expect(await scene.state()).toBe('succeeded')
    expect(await scene.counts()).toMatchObject({ total: 1, succeeded: 1, undecided: 0 })
    expect(await scene.results('results')).toMatchObject([{ key: 'b', state: 'succeeded', result: { invoice: 4711 } }])
    expect(scene.read('sums')).toBe('0\n1\n')
    expect(await scene.letters()).toEqual([])
    const { closed, changes } = await scene.showLetter('r1/map', 'b')
    expect(closed).toMatchObject({ by: 'decided' })
    expect(changes).toMatchObject([{ type: 'decided', detail: { answer: 'done', reason: 'seen in the books' } }])
  })

  test('that did not take effect runs again under its number, and has the attempts that are left', async () => {
    await begin({ items: ['b'], errors: { item_retry: { attempts: 2, initial_delay: '1ms' } } })
    scene.fail('b')
    const failed = await scene.here('dlq', 'decide', 'r1/map', 'b', '--rerun')
    expect(failed.code, failed.stderr).toBe(3)
    expect(scene.read('starts')).toBe('b 1\nb 2\n')
    const [letter] = await scene.letters('r1')
    expect(letter).toMatchObject({ key: 'b', state: 'dead', generation: 1, attempts: 2 })
    const again = await scene.here('dlq', 'decide', 'r1/map', 'b', '--rerun')
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('is not undecided')])
    expect(again.stderr).toContain('next: reprise dlq retry r1/map/0000000.b')
    scene.mend('b')
    expect((await scene.here('dlq', 'retry', 'r1')).code).toBe(0)
    expect(await scene.state()).toBe('succeeded')
  })

  test('is decided with all others of its run, and names the commands that do it', async () => {
    await begin()
    const shown = await scene.here('dlq', 'show', 'r1/map', 'b')
    expect(shown.stderr).toBe(
      'next: reprise dlq decide r1/map/0000001.b --done\nnext: reprise dlq decide r1/map/0000001.b --rerun\n',
    )
    const refused = await scene.here('dlq', 'ack', 'r1/map', 'b', '--reason', 'x')
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining('next: reprise dlq decide r1/map/0000001.b --done'),
    ])
    const stays = await scene.here('resume', 'r1')
    expect([stays.code, stays.stderr]).toEqual([4, expect.stringMatching(/of map map (is|are) undecided/)])
    expect(stays.stderr).toContain('next: reprise dlq decide r1 --rerun')
    const left = await scene.here('dlq', 'retry', 'r1')
    expect(left.stderr).toContain('find out whether they took effect, then use `dlq decide`')
    const ended = await scene.json<{ answer: string; runs: unknown[] }>('dlq', 'decide', 'r1', '--rerun')
    expect(ended).toMatchObject({ answer: 'rerun', runs: [{ run: 'r1', state: 'succeeded', failed: 0 }] })
    expect(await scene.counts()).toMatchObject({ total: 3, succeeded: 3 })
    const none = await scene.here('dlq', 'decide', 'r1', '--rerun')
    expect([none.code, none.stderr]).toEqual([0, 'No undecided item or task fits.\n'])
  })

  test('that took effect lowers the count of a map that was stopped', async () => {
    scene = new LetterScene({ ...HELD, errors: { max_failures: 1 }, map: { on_interrupt: 'fail', max_parallel: 1 } })
    await scene.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.starts().includes('b'))
    await scene.isClean()
    scene.write('go', '')
    expect((await scene.here('resume', 'r1')).code).toBe(1)
    expect(await scene.counts()).toMatchObject({ succeeded: 1, undecided: 1, fresh: 1 })
    const decided = await scene.here('dlq', 'decide', 'r1/map', 'b', '--done')
    expect([decided.code, decided.stderr]).toEqual([0, expect.stringContaining('next: reprise resume r1')])
    expect((await scene.here('resume', 'r1')).code).toBe(0)
    expect(await scene.counts()).toMatchObject({ total: 3, succeeded: 3 })
  })

  test('is decided once by two processes at a time', async () => {
    await begin({ items: ['b'] })
    const both = await Promise.all(
      ['1', '2'].map((result) => scene.here('dlq', 'decide', 'r1/map', 'b', '--done', '--result', result)),
    )
    const codes = both.map(({ code }) => code)
    expect(codes, both.map(({ stderr }) => stderr).join('\n')).toContain(0)
    expect(codes.every((code) => code === 4 || code === 0)).toBe(true)
    const { changes } = await scene.showLetter('r1/map', 'b')
    expect(changes.filter(({ type }) => type === 'decided')).toHaveLength(1)
  })

  test.each([
    [[], 'neither --done nor --rerun was given'],
    [['--done', '--rerun'], '--done and --rerun were both given'],
    [['--rerun', '--result', '1'], '--result is the result of an attempt that took effect'],
    [['--done', '--result', '{'], '--result is not valid JSON'],
    [['--done', '--result', '@nothing.json'], '--result @nothing.json cannot be read'],
  ])('refuses %j as a wrong use', async (flags, said) => {
    scene = new LetterScene()
    const refused = await scene.here('dlq', 'decide', 'r1/map', 'b', ...flags)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)])
  })
})

onBothStores('an undecided task', () => {
  let scene: LetterScene
  afterEach(() => scene.remove())

  test('of a program gets the result that a person found, and a caller of the program gets it', async () => {
    scene = new LetterScene()
    mkdirSync(scene.path('.reprise'))
    const durable = await openDurable(scene.store)
    const charge = durable.task('charge', { attempts: 1 }, async (input: { order: number }) => input.order)
    await charge.run({ order: 42 }, { id: 'order-42' })
    await scene.ledger((ledger) => leaveUndecided(ledger))
    const decided = await scene.here('dlq', 'decide', 'charge/order-42', '--done', '--result', '43')
    expect([decided.code, decided.stderr]).toEqual([0, '1 letter decided: counted as succeeded.\n'])
    expect(await charge.run({ order: 42 }, { id: 'order-42' })).toBe(43)
    await durable.close()
  })

  test('that is a step is decided with a resume, which the error names', async () => {
    scene = new LetterScene()
    scene.write('workflow.yaml', 'steps: [{ id: pay, shell: "echo x", on_interrupt: fail }]')
    await killedAt(scene, 'attempt_started', 'pay')
    expect((await scene.here('resume', 'r1')).code).toBe(4)
    const refused = await scene.here('dlq', 'decide', 'r1/pay', '--done')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('Step pay of run r1 is undecided')])
    expect(refused.stderr).toContain('next: reprise resume r1 --done pay')
    const left = await scene.here('dlq', 'decide', 'r1', '--done')
    expect([left.code, left.stderr]).toEqual([0, expect.stringContaining('next: reprise resume r1 --rerun pay')])
  })
})

/** As after the loss of a process whose task has `onInterrupt: 'fail'`. */
async function leaveUndecided(ledger: Parameters<Parameters<LetterScene['ledger']>[0]>[0]): Promise<void> {
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
