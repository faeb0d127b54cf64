/** Redrives with a changed file, of undecided items, of a part of a map, and at another pace. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { onBothStores } from '../workflow/both-stores.js'
import { LetterScene } from './letter-fixture.js'

onBothStores('a redrive', () => {
  let scene: LetterScene
  afterEach(() => scene.remove())

  test('25: goes through the recorded document, and with --accept-changes through the file as it is now', async () => {
    scene = new LetterScene({ items: ['a', 'b'], before: 'echo old >> ran' })
    scene.fail('a')
    expect((await scene.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    scene.write('workflow.yaml', scene.read('workflow.yaml').replace('echo old', 'echo new'))
    expect((await scene.here('dlq', 'retry', 'r1')).code).toBe(3)
    expect(scene.read('ran')).toBe('old\nold\nold\n')
    scene.mend('a')
    const ended = await scene.here('dlq', 'retry', 'r1', '--accept-changes')
    expect(ended.code, ended.stderr).toBe(0)
    expect(scene.read('ran')).toBe('old\nold\nold\nnew\n')
  })

  test('24: leaves undecided items alone, which are listed, unless --undecided says that they may run again', async () => {
    scene = new LetterScene({
      items: ['a', 'b'],
      before: '[ -e go ] || { [ "${item.key}" = b ] && sleep 60; }; true',
      map: { on_interrupt: 'fail' },
    })
    await scene.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.starts().length === 2)
    await scene.isClean()
    scene.write('go', '')
    const resumed = await scene.here('resume', 'r1')
    expect(resumed.code, resumed.stderr).toBe(3)
    expect((await scene.letters('r1')).map(({ key, state }) => [key, state])).toContainEqual(['b', 'undecided'])
    const left = await scene.json('dlq', 'retry', 'r1')
    expect(left).toMatchObject({ undecided: (await scene.letters('r1')).length, redrive: null })
    const refused = await scene.here('dlq', 'ack', 'r1/map', 'b', '--reason', 'x')
    expect(refused.code).toBe(4)
    const ended = await scene.here('dlq', 'retry', 'r1', '--undecided')
    expect(ended.code, ended.stderr).toBe(0)
    expect(await scene.state()).toBe('succeeded')
    expect(await scene.counts()).toMatchObject({ succeeded: 2, undecided: 0 })
  })

  test('25: runs at most --parallel items at a time, started at the pace of --rate', async () => {
    const before =
      'find . -name \'running.*\' | wc -l >> seen; touch "running.${item.key}"; sleep 0.1; rm "running.${item.key}"'
    scene = new LetterScene({ before })
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    scene.fail(...keys)
    expect((await scene.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    scene.mend(...keys)
    scene.write('seen', '')
    const ended = await scene.here('dlq', 'retry', 'r1', '--parallel', '1', '--rate', '10/s')
    expect(ended.code, ended.stderr).toBe(0)
    expect(scene.read('seen').split('\n').filter(Boolean).map(Number)).toEqual([0, 0, 0, 0, 0, 0])
    const started = await scene.ledger((ledger) => ledger.attemptsOfRun('r1/map', { limit: 100 }))
    const times = started.filter(({ generation }) => generation === 2).map(({ startedAtMs }) => startedAtMs)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual(400)
  })

  test.each([
    [['--canary', '0'], '--canary 0 is no whole number'],
    [['--rate', 'fast'], '--rate fast is no rate'],
    [['--where', 'item.'], '--where: '],
    [['--where', 'nothing == 1'], 'there is no `nothing`'],
  ])('refuses %j as a wrong use, and touches nothing', async (flags, said) => {
    scene = new LetterScene({ items: ['a'] })
    scene.fail('a')
    await scene.here('run', 'workflow.yaml', '--run-id', 'r1')
    const refused = await scene.here('dlq', 'retry', 'r1', ...flags)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)])
    expect(scene.starts()).toEqual(['a'])
  })

  test('says that there is nothing to do, and which group was meant', async () => {
    scene = new LetterScene({ items: ['a'] })
    scene.fail('a')
    await scene.here('run', 'workflow.yaml', '--run-id', 'r1')
    const unknown = await scene.here('dlq', 'list', 'r1', '--group', 'CommandEror (exit 75): exit code #')
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('next: reprise dlq groups')])
    await scene.here('dlq', 'ack', 'a', '--reason', 'x')
    const none = await scene.here('dlq', 'retry', 'r1')
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('No open dead letter fits.')])
    const closed = await scene.here('dlq', 'ack', 'a', '--reason', 'x')
    expect([closed.code, closed.stderr]).toEqual([4, expect.stringContaining('is closed (acknowledged)')])
  })
})
