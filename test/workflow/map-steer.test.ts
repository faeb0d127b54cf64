/** A map that is changed, paused and continued while another process runs it, and what is recorded of it. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { type Going, CliFixture, until } from './cli-fixture.js'
import { onBothStores } from './both-stores.js'

onBothStores('a map that is steered', () => {
  let scene: CliFixture
  afterEach(() => scene.remove())

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
    scene = new CliFixture(waiting(more))
    return scene.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.count('ran') === 2)
  }

  const started = (count: number): Promise<void> =>
    until(
      () => scene.count('ran') >= count,
      () => `${count} starts; there were ${scene.count('ran')}`,
    )

  test('8: max_parallel is raised while the map runs, and the change is an event with who and why', async () => {
    const going = await begun()
    const set = await scene.reprise('map', 'set', 'r1', '--max-parallel', '5', '--reason', 'more machines')
    expect([set.code, set.stderr]).toEqual([0, 'Map map of run r1 runs at most 5 items at a time.\n'])
    await started(5)
    expect(scene.count('ran')).toBe(5)
    scene.write('go', '')
    expect((await going.ended).code).toBe(0)
    const events = await scene.reprise('events', 'r1', '--type', 'gate_changed', '--json')
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
    const paused = await scene.reprise('map', 'pause', 'r1', '--reason', 'maintenance')
    expect([paused.code, paused.stderr]).toEqual([
      0,
      'Map map of run r1 is paused: what runs may end, and nothing further begins.\n',
    ])
    scene.write('end-1', '')
    scene.write('end-2', '')
    const counted = async (): Promise<number> =>
      (await scene.ledger((ledger) => ledger.tally('r1/map/items'))).succeeded
    await until(
      async () => (await counted()) === 2,
      () => 'two items to end',
    )
    going.child.kill('SIGTERM')
    expect((await going.ended).code).toBe(143)
    const again = await scene.startUntil(['resume', 'r1'], async () => {
      const run = await scene.ledger((ledger) => ledger.run('r1/map'))
      return run?.status === 'running' && run.resumes === 1
    })
    expect(scene.count('ran')).toBe(2)
    scene.write('go', '')
    const on = await scene.reprise('map', 'continue', 'r1')
    expect([on.code, on.stderr]).toEqual([0, 'Map map of run r1 continues.\n'])
    expect((await again.ended).code).toBe(0)
    expect(scene.count('ran')).toBe(12)
  })

  test('8: rate of the document and of map set hold, and none removes it', async () => {
    scene = new CliFixture(waiting('rate: 2/h'))
    const going = await scene.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.count('ran') === 1)
    scene.write('go', '')
    expect((await scene.reprise('map', 'set', 'r1', '--rate', '1/h')).code).toBe(0)
    expect(scene.count('ran')).toBe(1)
    expect((await scene.reprise('map', 'set', 'r1', '--rate', 'none')).code).toBe(0)
    expect((await going.ended).code).toBe(0)
    expect(scene.count('ran')).toBe(12)
  })

  test('max_failures that is lowered below what has failed stops the map; continue names the cures', async () => {
    scene = new CliFixture(waiting().replace("done'", 'done; test "${item}" -gt 3\''))
    const going = await scene.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => scene.count('ran') === 2)
    for (const item of [1, 2, 3]) scene.write(`end-${item}`, '')
    await started(5)
    // While it runs, `dlq retry` would be refused, so it is not what to type next.
    const shown = await scene.reprise('show', 'r1')
    expect([shown.stdout.includes('dlq list r1'), shown.stdout.includes('dlq retry r1')]).toEqual([true, false])
    const set = await scene.reprise('map', 'set', 'r1', '--max-failures', '3', '--rate', '600/m')
    const words = 'Map map of run r1 starts at most 600 items in 1m, stops at 3 failed items.\n'
    expect([set.code, set.stderr]).toEqual([0, words])
    await until(
      async () => {
        const gates = await scene.ledger((ledger) => ledger.gates())
        return gates.some(({ key, state }) => key === 'queue:r1/map/items' && 'halt' in (state as object))
      },
      () => 'the map to be stopped',
    )
    scene.write('go', '')
    expect((await going.ended).code).toBe(1)
    const on = await scene.reprise('map', 'continue', 'r1')
    expect(on.code).toBe(4)
    expect(on.stderr).toContain('Map map of run r1 was stopped: 3 items failed, and `max_failures` is 3.')
    expect(on.stderr).toContain('next: reprise dlq retry r1')
    expect(on.stderr).toContain('next: reprise resume r1 --max-failures 13')
    expect((await scene.reprise('resume', 'r1', '--max-failures', '13')).code).toBe(3)
  })

  test('the time that a map took grows while it runs', async () => {
    const going = await begun()
    const tookMs = async (): Promise<number> => {
      const { steps } = JSON.parse((await scene.reprise('show', 'r1', '--json')).stdout) as {
        steps: { activeMs: number }[]
      }
      return steps[0]?.activeMs ?? 0
    }
    const first = await tookMs()
    await until(
      async () => (await tookMs()) >= first + 100,
      () => `more than ${first} ms`,
    )
    scene.write('go', '')
    expect((await going.ended).code).toBe(0)
  })

  test('of two maps that have ended, the refusal says how to choose one', async () => {
    const map = 'map: { input: [a], agent_template: [{ shell: "true" }] }'
    scene = new CliFixture(`steps: [{ id: m, ${map} }, { id: n, ${map} }]`)
    await scene.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const { code, stderr } = await scene.reprise('map', 'pause', 'r1')
    expect([code, stderr]).toEqual([4, expect.stringContaining('Run r1 has 2 maps: m, n. Choose one with --map.')])
  })

  test('what cannot be changed is refused with what to type', async () => {
    scene = new CliFixture('steps: [{ id: a, shell: "true" }]')
    await scene.reprise('run', 'workflow.yaml', '--run-id', 'r0')
    const none = await scene.reprise('map', 'pause', 'r0')
    expect([none.code, none.stderr.includes('Run r0 has no map.')]).toEqual([4, true])
    scene.write('workflow.yaml', 'steps: [{ id: m, map: { input: [a], agent_template: [{ shell: "true" }] } }]')
    await scene.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const ended = await scene.reprise('map', 'pause', 'r1')
    expect([ended.code, ended.stderr.includes('Map m of run r1 has ended: it is succeeded.')]).toEqual([4, true])
    const other = await scene.reprise('map', 'pause', 'r1', '--map', 'n')
    expect([other.code, other.stderr.includes('Run r1 has no map n.')]).toEqual([4, true])
    const nothing = await scene.reprise('map', 'set', 'r1')
    expect([nothing.code, nothing.stderr.includes('give --max-parallel, --rate or --max-failures')]).toEqual([2, true])
    const rate = await scene.reprise('map', 'set', 'r1', '--rate', 'fast')
    expect([rate.code, rate.stderr.includes('such as 20/s')]).toEqual([2, true])
  })
})
