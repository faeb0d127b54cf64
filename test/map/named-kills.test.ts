/** A run with a map, killed at named places, and resumed: nothing is lost, and nothing that ended runs again. Needs a build. */
import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { killedAt, CliFixture, until } from '../workflow/cli-fixture.js'

const RUN = 'r1'
const MAP = `${RUN}/map`

describe('a map that is killed', () => {
  let fixture: CliFixture
  afterEach(() => fixture.remove())

  test.each(['map_started', 'item_failed', 'map_finished'])('at %s ends as if nothing had happened', async (event) => {
    fixture = new CliFixture(`
mode: mapreduce
map:
  input: [a, bad, c, d]
  max_parallel: 2
  agent_template:
    - shell: echo "\${item}" >> starts; [ \${item} != bad ] || exit 3
      capture: nothing
reduce:
  - shell: echo "\${map.succeeded} \${map.dead}" >> reduced
`)
    await killedAt(fixture, event, 'map')
    const { code, stderr } = await fixture.reprise('resume', RUN)
    expect(stderr).not.toMatch(/bug/)
    expect(code).toBe(3)
    expect(fixture.read('reduced')).toBe('3 1\n')
    const starts = fixture.read('starts').split('\n').filter(Boolean)
    expect(new Set(starts)).toEqual(new Set(['a', 'bad', 'c', 'd']))
    // At most the two items in flight ran again, and after the end none.
    expect(starts.length - 4).toBeLessThanOrEqual(event === 'map_finished' ? 0 : 2)
  })

  test('while its items are recorded reads the input anew, and begins nothing before all are recorded', async () => {
    fixture = new CliFixture(`
mode: mapreduce
map:
  input: items.txt
  agent_template:
    - run: [sh, -c, 'echo "$REPRISE_ITEM_KEY" >> starts']
`)
    writeFileSync(fixture.path('items.txt'), Array.from({ length: 60_000 }, (_, index) => `old-${index}\n`).join(''))
    await fixture.killed(['run', 'workflow.yaml', '--run-id', RUN], async () => {
      if (!fixture.has('.reprise/ledger.db')) return false
      return fixture.ledger(async (ledger) => ((await ledger.countTasks(MAP)).waiting ?? 0) > 0)
    })
    expect(fixture.read('starts')).toBe('')
    writeFileSync(fixture.path('items.txt'), 'x\ny\n')
    const { code } = await fixture.reprise('resume', RUN)
    expect(code).toBe(0)
    expect(fixture.read('starts').split('\n').filter(Boolean).toSorted()).toEqual(['x', 'y'])
    const counts = await fixture.ledger((ledger) => ledger.countTasks(MAP))
    expect(counts).toEqual({ succeeded: 2 })
  })

  test('with on_interrupt: fail leaves its item undecided, and the others end', async () => {
    fixture = new CliFixture(`
mode: mapreduce
map:
  input: [a, b, c]
  max_parallel: 1
  on_interrupt: fail
  agent_template:
    - shell: echo "\${item}" >> starts; [ -e go ] || sleep 60
`)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', RUN], () => fixture.count('starts') === 1)
    writeFileSync(fixture.path('go'), '')
    const { code } = await fixture.reprise('resume', RUN)
    expect(code).toBe(3)
    expect(fixture.read('starts')).toBe('a\nb\nc\n')
    const counts = await fixture.ledger((ledger) => ledger.countTasks(MAP))
    expect(counts).toEqual({ undecided: 1, succeeded: 2 })
  })

  test('with on_interrupt: {verify} asks the command before anything runs again', async () => {
    fixture = new CliFixture(`
mode: mapreduce
map:
  input: [a, b]
  max_parallel: 2
  on_interrupt: {verify: 'test "\${item}" = a'}
  agent_template:
    - shell: echo "\${item}" >> starts; [ -e go ] || sleep 60
`)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', RUN], () => fixture.count('starts') === 2)
    writeFileSync(fixture.path('go'), '')
    const { code } = await fixture.reprise('resume', RUN)
    expect(code).toBe(0)
    // The command says of `a` that it happened, and of `b` that it did not.
    expect(fixture.read('starts').split('\n').filter(Boolean).toSorted()).toEqual(['a', 'b', 'b'])
  })

  test('by a second resume at the same time is conducted by one process only', async () => {
    fixture = new CliFixture(`
mode: mapreduce
map:
  input: {range: [1, 12]}
  max_parallel: 2
  agent_template:
    - shell: echo "\${item}" >> starts; sleep 0.1
`)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', RUN], () => fixture.count('starts') >= 2)
    const both = await Promise.all([fixture.reprise('resume', RUN), fixture.reprise('resume', RUN)])
    expect(both.map(({ code }) => code).toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual([0, 4])
    const starts = fixture.read('starts').split('\n').filter(Boolean)
    expect(new Set(starts).size).toBe(12)
    expect(starts.length).toBeLessThanOrEqual(14)
    await until(
      () => fixture.left().length === 0,
      () => fixture.left().join(),
    )
  })
})
