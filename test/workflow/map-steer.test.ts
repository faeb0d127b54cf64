/** A map that is changed, paused and continued while another process runs it, and what is recorded of it. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { type Going, CliFixture, type Ended, until } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'
import { onBothStores } from './both-stores.js'

onBothStores('a map that is steered', () => {
  let fixture: CliFixture
  afterEach(() => fixture.remove())

  /** Within this process: what the command does to the run, and says, is the same. */
  const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

  /** An item notes its start, and ends once there is a file of its name or `go`. */
  const waiting = (more = ''): string => `
name: import
mode: mapreduce
map:
  input: { range: [1, 12] }
  max_parallel: 2
  ${more}
  agent_template:
    - shell: 'echo "\${item}" >> ran; until test -e go -o -e "end-\${item}"; do sleep 0.02; done'
`

  const begun = async (more = ''): Promise<Going> => {
    fixture = new CliFixture(waiting(more))
    return fixture.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 2)
  }

  const started = (count: number): Promise<void> =>
    until(
      () => fixture.count('ran') >= count,
      () => `${count} starts; there were ${fixture.count('ran')}`,
    )

  test('8: max_parallel is raised while the map runs, and the change is an event with who and why', async () => {
    const going = await begun()
    const set = await here('map', 'set', 'r1', '--max-parallel', '5', '--reason', 'more machines')
    expect([set.code, set.stderr]).toEqual([0, 'Map map of run r1 runs at most 5 items at a time.\n'])
    await started(5)
    expect(fixture.count('ran')).toBe(5)
    fixture.write('go', '')
    expect((await going.ended).code).toBe(0)
    const events = await here('events', 'r1', '--type', 'gate_changed', '--json')
    expect(JSON.parse(events.stdout)).toMatchObject({
      events: [
        {
          type: 'gate_changed',
          step: 'map',
          detail: {
            gate: 'queue:r1/map/items',
            action: 'limit',
            reason: 'more machines',
            by: expect.stringContaining('@') as string,
          },
        },
      ],
    })
  })

  test('8: a pause by hand lets running items end and begins no other, outlives a resume, and is no stop', async () => {
    const going = await begun()
    const paused = await here('map', 'pause', 'r1', '--reason', 'maintenance')
    expect([paused.code, paused.stderr]).toEqual([
      0,
      'Map map of run r1 is paused: what runs may end, and nothing further begins.\n',
    ])
    fixture.write('end-1', '')
    fixture.write('end-2', '')
    const counted = async (): Promise<number> =>
      (await fixture.ledger((ledger) => ledger.tally('r1/map/items'))).succeeded
    await until(
      async () => (await counted()) === 2,
      () => 'two items to end',
    )
    going.child.kill('SIGTERM')
    expect((await going.ended).code).toBe(143)
    const again = await fixture.startUntil(['resume', 'r1'], async () => {
      const run = await fixture.ledger((ledger) => ledger.run('r1/map'))
      return run?.status === 'running' && run.resumes === 1
    })
    expect(fixture.count('ran')).toBe(2)
    fixture.write('go', '')
    const on = await here('map', 'continue', 'r1')
    expect([on.code, on.stderr]).toEqual([0, 'Map map of run r1 continues.\n'])
    expect((await again.ended).code).toBe(0)
    expect(fixture.count('ran')).toBe(12)
  })

  test('8: rate of the document and of map set hold, and none removes it', async () => {
    fixture = new CliFixture(waiting('rate: 2/h'))
    const going = await fixture.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 1)
    fixture.write('go', '')
    expect((await here('map', 'set', 'r1', '--rate', '1/h')).code).toBe(0)
    expect(fixture.count('ran')).toBe(1)
    expect((await here('map', 'set', 'r1', '--rate', 'none')).code).toBe(0)
    expect((await going.ended).code).toBe(0)
    expect(fixture.count('ran')).toBe(12)
  })

  test('max_failures that is lowered below what has failed stops the map; continue names the cures', async () => {
    fixture = new CliFixture(waiting().replace("done'", 'done; test "${item}" -gt 3\''))
    const going = await fixture.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 2)
    for (const item of [1, 2, 3]) fixture.write(`end-${item}`, '')
    await started(5)
    // While it runs, `dlq retry` would be refused, so it is not what to type next.
    const shown = await here('show', 'r1')
    expect([shown.stdout.includes('dlq list r1'), shown.stdout.includes('dlq retry r1')]).toEqual([true, false])
    const set = await here('map', 'set', 'r1', '--max-failures', '3', '--rate', '600/m')
    const words = 'Map map of run r1 starts at most 600 items in 1m, stops at 3 failed items.\n'
    expect([set.code, set.stderr]).toEqual([0, words])
    await until(
      async () => {
        const gates = await fixture.ledger((ledger) => ledger.gates())
        return gates.some(({ key, state }) => key === 'queue:r1/map/items' && 'halt' in (state as object))
      },
      () => 'the map to be stopped',
    )
    fixture.write('go', '')
    expect((await going.ended).code).toBe(1)
    const on = await here('map', 'continue', 'r1')
    expect(on.code).toBe(4)
    expect(on.stderr).toContain('Map map of run r1 was stopped: 3 items failed, and `max_failures` is 3.')
    expect(on.stderr).toContain('next: reprise dlq retry r1')
    expect(on.stderr).toContain('next: reprise resume r1 --max-failures 13')
    expect((await here('resume', 'r1', '--max-failures', '13')).code).toBe(3)
  })

  test('the time that a map took grows while it runs', async () => {
    const going = await begun()
    const tookMs = async (): Promise<number> => {
      const { steps } = JSON.parse((await here('show', 'r1', '--json')).stdout) as {
        steps: { activeMs: number }[]
      }
      return steps[0]?.activeMs ?? 0
    }
    const first = await tookMs()
    await until(
      async () => (await tookMs()) >= first + 100,
      () => `more than ${first} ms`,
    )
    fixture.write('go', '')
    expect((await going.ended).code).toBe(0)
  })

  test('of two maps that have ended, the refusal says how to choose one', async () => {
    const map = 'map: { input: [a], agent_template: [{ shell: "true" }] }'
    fixture = new CliFixture(`steps: [{ id: m, ${map} }, { id: n, ${map} }]`)
    await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const { code, stderr } = await here('map', 'pause', 'r1')
    expect([code, stderr]).toEqual([4, expect.stringContaining('Run r1 has 2 maps: m, n. Choose one with --map.')])
  })

  test('what cannot be changed is refused with what to type', async () => {
    fixture = new CliFixture('steps: [{ id: a, shell: "true" }]')
    await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r0')
    const none = await here('map', 'pause', 'r0')
    expect([none.code, none.stderr.includes('Run r0 has no map.')]).toEqual([4, true])
    fixture.write('workflow.yaml', 'steps: [{ id: m, map: { input: [a], agent_template: [{ shell: "true" }] } }]')
    await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const ended = await here('map', 'pause', 'r1')
    expect([ended.code, ended.stderr.includes('Map m of run r1 has ended: it is succeeded.')]).toEqual([4, true])
    const other = await here('map', 'pause', 'r1', '--map', 'n')
    expect([other.code, other.stderr.includes('Run r1 has no map n.')]).toEqual([4, true])
    const nothing = await here('map', 'set', 'r1')
    expect([nothing.code, nothing.stderr.includes('give --max-parallel, --rate or --max-failures')]).toEqual([2, true])
    const rate = await here('map', 'set', 'r1', '--rate', 'fast')
    expect([rate.code, rate.stderr.includes('such as 20/s')]).toEqual([2, true])
  })
})
