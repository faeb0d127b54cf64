/** `rerun RUN --from STEP`: what runs once more and what is kept, after every kind of end, kill and change. Needs a build. */
import { rmSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { onBothStores } from './both-stores.js'
import { CliFixture } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const RERUN = ['rerun', 'r1', '--from', 'load']

/** Each step notes that it ran. `load`: what the second of its three steps does beside. */
const WORKFLOW = (load = 'true'): string => `
outputs: { rows: "\${rows}" }
steps:
  - { id: fetch, shell: 'echo fetch >> ran; echo items-1', capture: items }
  - id: load
    shell: echo "load \${items}" >> ran; ${load}; wc -l < ran
    capture: rows
    capture_format: number
    retry: { attempts: 2, initial_delay: 1ms }
  - { id: report, shell: 'echo "report \${rows}" >> ran' }
finally:
  - { id: clean, shell: 'echo "clean \${run.state}" >> ran' }
`

const ran = (): string[] => cli.read('ran').split('\n').filter(Boolean)
const ONCE = ['fetch', 'load items-1', 'report 2', 'clean succeeded']

onBothStores('rerun', () => {
  test('runs the step and all behind it once more, and keeps what was before', async () => {
    cli = new CliFixture(WORKFLOW())
    expect((await cli.reprise(...RUN)).code).toBe(0)
    expect(ran()).toEqual(ONCE)
    const { code, stderr } = await cli.reprise(...RERUN)
    expect(code, stderr).toBe(0)
    expect(ran()).toEqual([...ONCE, 'load items-1', 'report 5', 'clean succeeded'])
    expect(stderr).toContain('once more  load, report, clean')
    const { state, outputs, steps } = await cli.show('r1')
    expect([state, outputs]).toEqual(['succeeded', { rows: 5 }])
    expect(steps.map(({ id, state: one }) => [id, one])).toEqual([
      ['fetch', 'succeeded'],
      ['load', 'succeeded'],
      ['report', 'succeeded'],
      ['clean', 'succeeded'],
    ])
    // Both generations are in the history.
    expect(steps[1]?.history.map(({ generation }) => generation)).toEqual([1, 2])
  })

  test('killed in a repeated step, the resume goes on there, and repeats nothing else', async () => {
    cli = new CliFixture(WORKFLOW('[ ! -e slow ] || sleep 60'))
    expect((await cli.reprise(...RUN)).code).toBe(0)
    cli.write('slow', '')
    await cli.killed(RERUN, () => cli.count('ran') === 5)
    rmSync(cli.path('slow'))
    const { code, stderr } = await cli.reprise('resume', 'r1')
    expect(code, stderr).toBe(0)
    expect(ran().slice(4)).toEqual(['load items-1', 'load items-1', 'report 6', 'clean succeeded'])
    expect((await cli.show('r1')).state).toBe('succeeded')
  })

  test('cancelled meanwhile, `finally` runs once more', async () => {
    cli = new CliFixture(WORKFLOW('[ ! -e slow ] || sleep 60'))
    expect((await cli.reprise(...RUN)).code).toBe(0)
    cli.write('slow', '')
    const going = await cli.startUntil(RERUN, () => cli.count('ran') === 5)
    expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
    const { code, stderr } = await going.ended
    expect(code, stderr).toBe(1)
    expect(ran().slice(4)).toEqual(['load items-1', 'clean cancelled'])
    expect((await cli.show('r1')).state).toBe('cancelled')
  })
})

describe('rerun', () => {
  test('continues a failed run from its failed step, with the mended file', async () => {
    cli = new CliFixture(WORKFLOW('exit 3'))
    expect((await cli.reprise(...RUN)).code).toBe(1)
    cli.write('workflow.yaml', WORKFLOW())
    const refused = await cli.reprise(...RERUN)
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('next: reprise rerun r1 --from load --accept-changes')
    cli.write('ran', '')
    const { code, stderr } = await cli.reprise(...RERUN, '--accept-changes')
    expect(code, stderr).toBe(0)
    expect(ran()).toEqual(['load items-1', 'report 1', 'clean succeeded'])
  })

  test('goes on with a run that was cancelled', async () => {
    cli = new CliFixture(WORKFLOW('[ -e go ] || sleep 60'))
    const going = await cli.startUntil(RUN, () => cli.count('ran') === 2)
    expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
    await going.ended
    cli.write('go', '')
    expect((await cli.reprise(...RERUN)).code).toBe(0)
    expect(ran().slice(-3)).toEqual(['load items-1', 'report 4', 'clean succeeded'])
  })

  test('refuses a step that something before has to end for, and names that', async () => {
    cli = new CliFixture(WORKFLOW('exit 3'))
    expect((await cli.reprise(...RUN)).code).toBe(1)
    const { code, stderr } = await cli.reprise('rerun', 'r1', '--from', 'report')
    expect(code).toBe(4)
    expect(stderr).toContain('Step report of run r1 has to wait for step load, which has not ended well.')
    expect(stderr).toContain('next: reprise rerun r1 --from load')
    const unknown = await cli.reprise('rerun', 'r1', '--from', 'laod')
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('Did you mean load?')])
    const handler = await cli.reprise('rerun', 'r1', '--from', 'clean')
    expect([handler.code, handler.stderr]).toEqual([4, expect.stringContaining('runs when the steps have ended')])
    expect((await cli.reprise('rerun', 'r1')).code).toBe(2)
    expect(ran()).toHaveLength(4)
  })

  test('refuses a run that a living process executes', async () => {
    cli = new CliFixture(WORKFLOW('sleep 60'))
    await cli.startUntil(RUN, () => cli.count('ran') === 2)
    const { code, stderr } = await cli.reprise('rerun', 'r1', '--from', 'fetch')
    expect([code, stderr]).toEqual([4, expect.stringContaining('is being executed by process')])
  })

  test('shows with --dry-run what it would do, and changes nothing', async () => {
    cli = new CliFixture(WORKFLOW())
    expect((await cli.reprise(...RUN)).code).toBe(0)
    const { code, stdout } = await cli.reprise(...RERUN, '--dry-run', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).preview).toMatchObject({ kept: 1, repeated: ['load', 'report', 'clean'], pending: 0 })
    expect((await cli.show('r1')).state).toBe('succeeded')
    expect(ran()).toEqual(ONCE)
  })

  test('killed before the fresh attempts were granted, the resume grants them', async () => {
    cli = new CliFixture(WORKFLOW('exit 3'))
    expect((await cli.reprise(...RUN)).code).toBe(1)
    cli.write('workflow.yaml', WORKFLOW())
    // As a process leaves it that is killed between its mark and the first change.
    await cli.ledger(async (ledger) => {
      await ledger.transact({ tasks: [], runs: ['r1'] }, (view) => {
        const run = view.run('r1')
        if (run === undefined) throw new Error('there is no run')
        const { ending: _ending, ...detail } = run.detail as Record<string, never>
        const marked = { ...detail, repeatFrom: 'load' }
        return { runs: [{ run: { ...run, status: 'running', detail: marked, endedAtMs: null } }], result: undefined }
      })
    })
    cli.write('ran', '')
    const { code, stderr } = await cli.reprise('resume', 'r1', '--accept-changes')
    expect(code, stderr).toBe(0)
    expect(ran()).toEqual(['load items-1', 'report 1', 'clean succeeded'])
  })

  test('repeats a fallback with its step, and leaves it out when the step succeeds', async () => {
    cli = new CliFixture(`
steps:
  - id: load
    shell: echo load >> ran; test -e well
    retry: { attempts: 1, on_failure: { fallback: { command: echo fallback >> ran } } }
  - { id: report, shell: echo report >> ran }
`)
    expect((await cli.reprise(...RUN)).code).toBe(0)
    cli.write('well', '')
    expect((await cli.reprise(...RERUN)).code).toBe(0)
    expect(ran()).toEqual(['load', 'fallback', 'report', 'load', 'report'])
  })

  test('reads the items of a map again, and keeps those of a map before it', async () => {
    cli = new CliFixture(`
steps:
  - { id: first, map: { input: [x], agent_template: [{ shell: 'echo first >> ran' }] } }
  - { id: list, shell: 'cat names', capture: names, capture_format: lines }
  - id: all
    map:
      input: "\${names}"
      agent_template: [{ shell: 'echo "item \${item}" >> ran', capture: done }]
  - { id: sum, shell: 'echo "sum \${steps.all.total} of \${steps.first.total}" >> ran' }
`)
    cli.write('names', 'a\nb\n')
    expect((await cli.reprise(...RUN)).code).toBe(0)
    cli.write('names', 'c\n')
    cli.write('ran', '')
    const { code, stderr } = await cli.reprise('rerun', 'r1', '--from', 'list')
    expect(code, stderr).toBe(0)
    expect(ran()).toEqual(['item c', 'sum 1 of 1'])
    const shown = await cli.reprise('doctor')
    expect(shown.code, shown.stdout + shown.stderr).toBe(0)
  })

  test('refuses to repeat a map that was skipped', async () => {
    cli = new CliFixture(`
params: { wanted: false }
steps:
  - { id: load, shell: 'true' }
  - { id: all, when: wanted, map: { input: [a], agent_template: [{ shell: 'true' }] } }
`)
    expect((await cli.reprise(...RUN)).code).toBe(0)
    const { code, stderr } = await cli.reprise(...RERUN)
    expect([code, stderr]).toEqual([4, expect.stringContaining('Map all of run r1 was skipped')])
  })
})

test('a rerun grants nothing to the steps before', async () => {
  const many = Array.from({ length: 40 }, (_, index) => `  - { id: s${index}, shell: 'true' }`).join('\n')
  cli = new CliFixture(`steps:\n${many}\n  - { id: last, shell: 'echo last >> ran' }\n`)
  expect((await cli.reprise(...RUN)).code).toBe(0)
  expect((await cli.reprise('rerun', 'r1', '--from', 'last')).code).toBe(0)
  expect(ran()).toHaveLength(2)
  const events = await cli.reprise('events', 'r1', '--json')
  const resets = JSON.parse(events.stdout).events.filter(({ type }: { type: string }) => type === 'reset')
  expect(resets).toMatchObject([{ step: 'last' }])
})
