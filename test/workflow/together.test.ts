/**
 * Several processes on one store: each run is conducted by one of them, others look at it, steer it or clean up beside
 * it. Needs a build.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { type Going, CliFixture, type Ended, until } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** Within this process: what the command does to the run, and says, is the same. */
const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const HELD = 'steps: [{ id: work, shell: "echo x >> ran; echo said; until test -e go; do sleep 0.02; done" }]'
const WAITING = `
steps:
  - id: work
    shell: echo x >> ran; test -e go
    retry: { attempts: 3, backoff: fixed, initial_delay: 60s }
`

async function startedWorking(workflow: string): Promise<Going> {
  fixture = new CliFixture(workflow)
  const going = fixture.start(...RUN)
  await until(
    () => fixture.count('ran') === 1,
    () => `the step; it said ${going.said()}`,
    going,
  )
  return going
}

async function startedWaiting(): Promise<Going> {
  fixture = new CliFixture(WAITING)
  const going = fixture.start(...RUN)
  await until(
    () => fixture.waits('work', 1),
    () => `the wait; it said ${going.said()}`,
    going,
  )
  return going
}

describe('at the same time', () => {
  test('four runs of one file go their ways on one store', async () => {
    fixture = new CliFixture(`
steps:
  - { id: a, shell: 'echo "$REPRISE_RUN_ID" >> a' }
  - { id: b, shell: 'echo "$REPRISE_RUN_ID $REPRISE_ATTEMPT" >> b; test "$REPRISE_ATTEMPT" = 2', retry: { attempts: 2, initial_delay: 50ms } }
`)
    const ids = ['r1', 'r2', 'r3', 'r4']
    const ended = await Promise.all(ids.map((id) => fixture.reprise('run', 'workflow.yaml', '--run-id', id)))
    expect(ended.map(({ code, stderr }) => [code, stderr.includes('succeeded')])).toEqual(ids.map(() => [0, true]))
    expect(fixture.read('a').trim().split('\n').toSorted()).toEqual(ids)
    expect(fixture.count('b')).toBe(8)
  })

  test('of two with the same id exactly one runs, and the other is refused', async () => {
    fixture = new CliFixture(HELD)
    const both = [fixture.start(...RUN), fixture.start(...RUN)]
    await until(
      () => both.some(({ child }) => child.exitCode !== null) && fixture.count('ran') > 0,
      () => `one to be refused; they said ${both.map((one) => one.said()).join('')}`,
    )
    fixture.write('go', '')
    const ended = await Promise.all(both.map((one) => one.ended))
    expect(ended.map(({ code }) => String(code)).toSorted()).toEqual(['0', '4'])
    expect(ended.find(({ code }) => code === 4)?.stderr).toContain('There is a run r1 already')
    expect(fixture.count('ran')).toBe(1)
  })
})

describe('from another process', () => {
  test('a run is cancelled while a step runs: its tree is ended, and nothing more begins', async () => {
    const going = await startedWorking(`
steps:
  - { id: work, shell: "(setsid sleep 61 & sleep 62) & echo x >> ran; sleep 63", retry: { attempts: 5 } }
  - { id: after, shell: echo x >> after }
`)
    expect((await here('cancel', 'r1')).code).toBe(0)
    const { code, stderr } = await going.ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('cancelled')])
    expect(fixture.left()).toEqual([])
    expect([fixture.count('ran'), fixture.count('after')]).toEqual([1, 0])
    expect((await fixture.show('r1')).state).toBe('cancelled')
    expect((await here('cancel', 'r1')).stderr).toContain('had ended already')
    const refused = await fixture.reprise('resume', 'r1')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('was cancelled')])
  })

  test('a run is cancelled while it waits: it hears of it before its time', async () => {
    const going = await startedWaiting()
    expect((await here('cancel', 'r1')).code).toBe(0)
    expect((await going.ended).code).toBe(1)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ state: 'cancelled', attempts: 1 })
  })

  test('a wait is ended: the next attempt starts now', async () => {
    const going = await startedWaiting()
    fixture.write('go', '')
    expect((await here('retry-now', 'r1', 'work')).code).toBe(0)
    expect((await going.ended).code).toBe(0)
    expect(fixture.count('ran')).toBe(2)
    const events = JSON.parse((await here('events', 'r1', '--json')).stdout) as { events: { type: string }[] }
    expect(events.events.map(({ type }) => type)).toContain('retry_now')
  })

  test('what has ended is cleaned up, and what goes on is left alone', async () => {
    fixture = new CliFixture(HELD)
    fixture.write('go', '')
    for (const id of ['old1', 'old2']) await fixture.reprise('run', 'workflow.yaml', '--run-id', id)
    await fixture.startProgram('rm', ['go', 'ran']).ended
    const going = fixture.start(...RUN)
    await until(
      () => fixture.count('ran') === 1,
      () => 'the step',
      going,
    )
    const { code, stdout } = await here('clean', '--older-than', '0s', '--yes', '--json')
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as { removed: string[] }).removed.toSorted()).toEqual(['old1', 'old2'])
    fixture.write('go', '')
    expect((await going.ended).code).toBe(0)
    expect(fixture.has('.reprise/runs/old1')).toBe(false)
    expect((await here('logs', 'r1')).stdout).toBe('said\n')
    expect((await here('show', 'old1')).code).toBe(4)
  })
})

describe('a run that another process conducts', () => {
  test('is looked at while it goes on, and to its end', async () => {
    const going = await startedWorking(HELD)
    const ps = JSON.parse((await here('ps', '--json')).stdout) as { runs: unknown[] }
    expect(ps.runs).toMatchObject([{ id: 'r1', state: 'running', owner: { pid: going.child.pid } }])
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ state: 'running', attempts: 1 })
    const lookers = [
      fixture.start('watch', 'r1', '--ndjson'),
      fixture.start('logs', 'r1', '-f'),
      fixture.start('events', 'r1', '-f', '--ndjson'),
    ]
    for (const [index, word] of ['attempt_started', 'said', 'attempt_started'].entries())
      await until(
        () => lookers[index]?.said().includes(word) ?? false,
        () => `${word}; it said ${lookers[index]?.said()}`,
      )
    expect(lookers.map(({ child }) => child.exitCode)).toEqual([null, null, null])
    fixture.write('go', '')
    expect((await going.ended).code).toBe(0)
    const [watched, logs, events] = await Promise.all(lookers.map(({ ended }) => ended))
    expect([watched?.code, logs?.code, events?.code]).toEqual([0, 0, 0])
    expect(watched?.stdout).toContain('"run_finished"')
    expect(watched?.stdout).toContain('"succeeded"')
    expect(logs?.stdout).toBe('said\n')
    expect(events?.stdout).toContain('"run_finished"')
  })

  test('and that is killed is seen to be interrupted, and whoever looks ends', async () => {
    const going = await startedWorking(HELD)
    const lookers = [
      fixture.start('watch', 'r1', '--ndjson'),
      fixture.start('logs', 'r1', '-f'),
      fixture.start('events', 'r1', '-f', '--ndjson'),
    ]
    for (const looker of lookers)
      await until(
        () => looker.said() !== '',
        () => 'a first word',
        looker,
      )
    going.child.kill('SIGKILL')
    await going.ended
    const ended = await Promise.all(lookers.map((looker) => looker.ended))
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(ended[0]?.stdout).toContain('"interrupted"')
    const ps = JSON.parse((await here('ps', '--json')).stdout) as { runs: unknown[] }
    expect(ps.runs).toMatchObject([{ id: 'r1', state: 'interrupted', owner: null }])
    await fixture.isClean()
    fixture.write('go', '')
    expect((await fixture.reprise('resume')).code).toBe(0)
  })

  test('Ctrl-C ends the looking, and nothing else', async () => {
    const going = await startedWorking(HELD)
    const lookers = [fixture.start('watch', 'r1'), fixture.start('logs', 'r1', '-f')]
    for (const looker of lookers) {
      await until(
        () => looker.said() !== '',
        () => 'a first word',
        looker,
      )
      looker.child.kill('SIGINT')
      expect([0, 130]).toContain((await looker.ended).code)
    }
    fixture.write('go', '')
    expect((await going.ended).code).toBe(0)
  })
})
