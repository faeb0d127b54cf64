/** Redrives with a changed file, of undecided items, of a part of a map, and at another pace. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { onBothStores } from '../workflow/both-stores.js'
import { LetterFixture } from './letter-fixture.js'

onBothStores('a redrive', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())

  test('25: goes through the recorded document, and with --accept-changes through the file as it is now', async () => {
    fixture = new LetterFixture({ items: ['a', 'b'], before: 'echo old >> ran' })
    fixture.fail('a')
    expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    fixture.write('workflow.yaml', fixture.read('workflow.yaml').replace('echo old', 'echo new'))
    expect((await fixture.here('dlq', 'retry', 'r1')).code).toBe(3)
    expect(fixture.read('ran')).toBe('old\nold\nold\n')
    fixture.mend('a')
    const ended = await fixture.here('dlq', 'retry', 'r1', '--accept-changes')
    expect(ended.code, ended.stderr).toBe(0)
    expect(fixture.read('ran')).toBe('old\nold\nold\nnew\n')
  })

  test('24: leaves undecided items alone, which are listed, unless --undecided says that they may run again', async () => {
    fixture = new LetterFixture({
      items: ['a', 'b'],
      before: '[ -e go ] || { [ "${item.key}" = b ] && sleep 60; }; true',
      map: { on_interrupt: 'fail' },
    })
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.starts().length === 2)
    await fixture.isClean()
    fixture.write('go', '')
    const resumed = await fixture.here('resume', 'r1')
    expect(resumed.code, resumed.stderr).toBe(3)
    expect((await fixture.letters('r1')).map(({ key, state }) => [key, state])).toContainEqual(['b', 'undecided'])
    const left = await fixture.json('dlq', 'retry', 'r1')
    expect(left).toMatchObject({ undecided: (await fixture.letters('r1')).length, redrive: null })
    const refused = await fixture.here('dlq', 'ack', 'r1/map', 'b', '--reason', 'x')
    expect(refused.code).toBe(4)
    const ended = await fixture.here('dlq', 'retry', 'r1', '--undecided')
    expect(ended.code, ended.stderr).toBe(0)
    expect(await fixture.state()).toBe('succeeded')
    expect(await fixture.counts()).toMatchObject({ succeeded: 2, undecided: 0 })
  })

  test('25: runs at most --parallel items at a time, started at the pace of --rate', async () => {
    const before =
      'find . -name \'running.*\' | wc -l >> seen; touch "running.${item.key}"; sleep 0.1; rm "running.${item.key}"'
    fixture = new LetterFixture({ before })
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    fixture.fail(...keys)
    expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    fixture.mend(...keys)
    fixture.write('seen', '')
    const ended = await fixture.here('dlq', 'retry', 'r1', '--parallel', '1', '--rate', '10/s')
    expect(ended.code, ended.stderr).toBe(0)
    expect(fixture.read('seen').split('\n').filter(Boolean).map(Number)).toEqual([0, 0, 0, 0, 0, 0])
    const started = await fixture.ledger((ledger) => ledger.attemptsOfRun('r1/map', { limit: 100 }))
    const times = started.filter(({ generation }) => generation === 2).map(({ startedAtMs }) => startedAtMs)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual(400)
  })

  test.each([
    [['--canary', '0'], '--canary 0 is no whole number'],
    [['--rate', 'fast'], '--rate fast is no rate'],
    [['--where', 'item.'], '--where: '],
    [['--where', 'nothing == 1'], 'there is no `nothing`'],
  ])('refuses %j as a wrong use, and touches nothing', async (flags, said) => {
    fixture = new LetterFixture({ items: ['a'] })
    fixture.fail('a')
    await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')
    const refused = await fixture.here('dlq', 'retry', 'r1', ...flags)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)])
    expect(fixture.starts()).toEqual(['a'])
  })

  test('says that there is nothing to do, and which group was meant', async () => {
    fixture = new LetterFixture({ items: ['a'] })
    fixture.fail('a')
    await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')
    const unknown = await fixture.here('dlq', 'list', 'r1', '--group', 'CommandEror (exit 75): exit code #')
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('next: reprise dlq groups')])
    await fixture.here('dlq', 'ack', 'a', '--reason', 'x')
    const none = await fixture.here('dlq', 'retry', 'r1')
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('No open dead letter fits.')])
    const closed = await fixture.here('dlq', 'ack', 'a', '--reason', 'x')
    expect([closed.code, closed.stderr]).toEqual([4, expect.stringContaining('is closed (acknowledged)')])
  })
})
