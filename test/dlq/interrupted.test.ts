/** Redrives that are killed, stopped, or begun twice; letters of steps and of tasks of programs. On both stores. Needs a build. */
import { mkdirSync, rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { openDurable } from 'reprise/durable'
import { onBothStores } from '../workflow/both-stores.js'
import { until } from '../workflow/cli-fixture.js'
import { LetterFixture, type MapText } from './letter-fixture.js'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']
/** Items wait in the middle while there is a file `hold`. */
const HELD: MapText = {
  before: 'while [ -e "hold" ]; do sleep 0.05; done; echo "${item.key}" >> done',
  map: { max_parallel: 2 },
  reduce: [{ id: 'sum', shell: 'echo "${map.succeeded}" >> sums' }],
}

onBothStores('a redrive', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())

  /** All items are dead, and would succeed by now; those that are redriven are held. */
  const begin = async (): Promise<void> => {
    fixture = new LetterFixture(HELD)
    fixture.fail(...KEYS)
    const ended = await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')
    expect(ended.code, ended.stderr).toBe(3)
    fixture.mend(...KEYS)
    fixture.write('hold', '')
    fixture.write('starts', '')
    fixture.write('done', '')
  }

  const release = (): void => rmSync(fixture.path('hold'))

  /** What the killed process had started is gone too, before the items go on. */
  const killAndRelease = async (args: readonly string[], mostFailed: number): Promise<void> => {
    const isFarEnough = async (): Promise<boolean> => {
      const { failed = KEYS.length } = await fixture.counts()
      return fixture.starts().length >= 2 && failed <= mostFailed
    }
    await fixture.killed([...args], isFarEnough)
    await fixture.isClean()
    expect((await fixture.counts())['total']).toBe(6)
    release()
  }

  const expectAllOnce = async (): Promise<void> => {
    expect(await fixture.state()).toBe('succeeded')
    expect(await fixture.letters('r1')).toEqual([])
    expect(await fixture.counts()).toMatchObject({ total: 6, succeeded: 6, failed: 0, fresh: 0, retrying: 0 })
    // Whatever was interrupted, each item has come to its end once.
    expect(fixture.read('done').split('\n').filter(Boolean).toSorted()).toEqual(KEYS)
    for (const key of KEYS) {
      const { generations } = await fixture.showLetter('r1/map', key)
      expect(generations.map(({ generation }) => generation)).toEqual([1, 2])
    }
  }

  test('25: killed with kill -9, the same command finishes what is left, and with --reduce the steps after the map', async () => {
    await begin()
    await killAndRelease(['dlq', 'retry', 'r1', '--reduce'], KEYS.length)
    const ended = await fixture.here('dlq', 'retry', 'r1', '--reduce')
    expect(ended.code, ended.stderr).toBe(0)
    await expectAllOnce()
    expect(fixture.read('sums')).toBe('0\n6\n')
    await fixture.isClean()
  })

  test('25: killed with kill -9, a resume finishes the redrive, and repeats the steps that were asked for', async () => {
    await begin()
    // A resume redrives nothing: it finishes what the redrive had granted, which is every item here.
    await killAndRelease(['dlq', 'retry', 'r1', '--reduce'], 0)
    const ended = await fixture.here('resume', 'r1')
    expect(ended.code, ended.stderr).toBe(0)
    await expectAllOnce()
    expect(fixture.read('sums')).toBe('0\n6\n')
  })

  test('25: Ctrl-C leaves the run interrupted with exit code 130, and the same command finishes it', async () => {
    await begin()
    const going = await fixture.startUntil(['dlq', 'retry', 'r1'], () => fixture.starts().length >= 2)
    going.child.kill('SIGINT')
    expect((await going.ended).code).toBe(130)
    expect(await fixture.state()).toBe('interrupted')
    release()
    const ended = await fixture.here('dlq', 'retry', 'r1')
    expect(ended.code, ended.stderr).toBe(0)
    await expectAllOnce()
  })

  test('25: of two at once one is refused with exit code 4, and no item is processed twice', async () => {
    await begin()
    const first = await fixture.startUntil(['dlq', 'retry', 'r1'], () => fixture.starts().length >= 2)
    const second = await fixture.here('dlq', 'retry', 'r1')
    expect([second.code, second.stderr]).toEqual([4, expect.stringContaining('is being executed by process')])
    expect(second.stderr).toMatch(/next: reprise watch \S+\n/)
    release()
    expect((await first.ended).code).toBe(0)
    await expectAllOnce()
    expect(fixture.starts().toSorted()).toEqual(KEYS)
  })

  test('25: of two that begin at the same time at least one succeeds, and no item is processed twice', async () => {
    await begin()
    release()
    const both = await Promise.all([fixture.reprise('dlq', 'retry', 'r1'), fixture.reprise('dlq', 'retry', 'r1')])
    const codes = both.map(({ code }) => code)
    expect(codes, both.map(({ stderr }) => stderr).join('\n')).toContain(0)
    expect(codes.every((code) => code === 0 || code === 4)).toBe(true)
    await expectAllOnce()
    expect(fixture.starts().toSorted()).toEqual(KEYS)
  })

  test('25: a failed step gets fresh attempts, and the run continues after it', async () => {
    fixture = new LetterFixture({
      reduce: [
        { id: 'sum', shell: 'echo sum >> sums; [ -e ok ]' },
        { id: 'last', shell: 'echo last >> sums' },
      ],
    })
    expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(1)
    expect((await fixture.letters()).map(({ letter, kind: of }) => [letter, of])).toEqual([['r1/sum', 'step']])
    fixture.write('ok', '')
    const ended = await fixture.here('dlq', 'retry', 'r1/sum')
    expect(ended.code, ended.stderr).toBe(0)
    expect(fixture.read('sums')).toBe('sum\nsum\nlast\n')
    expect(await fixture.state()).toBe('succeeded')
    expect(await fixture.letters()).toEqual([])
  })

  test('25: tasks of programs are redriven for their own workers, and their letters listed by name', async () => {
    fixture = new LetterFixture()
    mkdirSync(fixture.path('.reprise'))
    let isBroken = true
    const durable = await openDurable(fixture.store)
    const charge = durable.task('charge', { attempts: 1 }, async (input: { order: number }) => {
      if (isBroken) throw Object.assign(new Error('no answer'), { status: 503 })
      return input.order
    })
    await expect(charge.run({ order: 42 }, { id: 'order-42' })).rejects.toThrow('no answer')
    const [letter] = await fixture.letters('--name', 'charge')
    expect(letter).toMatchObject({ letter: 'charge/order-42', kind: 'task', run: null, failure: { status: 503 } })
    expect(letter?.signature).toBe('Error (status 503): no answer')
    expect((await fixture.here('dlq', 'edit', 'charge/order-42', '--input', '{"order": 43}')).code).toBe(0)
    expect((await fixture.here('dlq', 'retry', 'charge', '--canary', '1')).code).toBe(2)
    isBroken = false
    const ended = await fixture.here('dlq', 'retry', 'charge')
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining('the workers of their program execute them'),
    ])
    await until(
      async () => (await charge.status('order-42'))?.state === 'succeeded',
      () => 'the worker to run the task',
    )
    expect(await charge.run({ order: 42 }, { id: 'order-42' })).toBe(43)
    expect(await fixture.letters()).toEqual([])
    await durable.close()
  })
})
