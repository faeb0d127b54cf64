/**
 * A run that is asked to stop: the attempt is ended with all that it started and recorded as interrupted, the state is
 * kept, and a resume goes on there. Asked twice, everything ends at once. Real processes and signals. Needs a build.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { type Going, CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

/** Runs until a step notes its line. */
async function startedWorking(workflow: string): Promise<Going> {
  fixture = new CliFixture(workflow)
  return fixture.startUntil(RUN, () => fixture.count('ran') === 1)
}

/** Steps before are not run again, the interrupted one is, under its number. */
async function expectResumed(): Promise<void> {
  fixture.write('go', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1')
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
}

const WORK = `
steps:
  - { id: before, shell: echo x >> before }
  - id: work
    shell: |
      trap 'echo x >> told; exit 1' TERM
      (sleep 61 & setsid sleep 62 & echo x >> ran; wait) &
      test -e go || wait
    retry: { attempts: 2 }
  - { id: after, shell: echo x >> after }
`

describe('a first signal', () => {
  const cases = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const

  for (const [signal, exitCode] of cases) {
    test(`${signal} ends the tree, saves the state, exits ${exitCode}`, async () => {
      const going = await startedWorking(WORK)
      going.child.kill(signal)
      const { code, stderr } = await going.ended
      expect(code).toBe(exitCode)
      expect(stderr).toMatch(
        /Stopping: .*\n(.*\n)*Stopped: the state is saved\.\n(.*\n)*Resume with: reprise resume r1\n$/,
      )
      expect(stderr.match(/saved/g)).toHaveLength(1)
      expect(fixture.left()).toEqual([])
      expect(fixture.count('told')).toBe(1)
      const { state, owner } = await fixture.show('r1')
      expect([state, owner]).toEqual(['interrupted', null])
      expect(await fixture.historyOf('work')).toEqual([[1, 1, 'interrupted']])
      await expectResumed()
      expect(await fixture.historyOf('work')).toEqual([
        [1, 1, 'interrupted'],
        [1, 2, 'success'],
      ])
      expect([fixture.count('before'), fixture.count('after')]).toEqual([1, 1])
    })
  }

  test('does not count toward the three interruptions that make a failure', async () => {
    fixture = new CliFixture(
      'steps: [{ id: work, shell: "echo x >> ran; test -e go || sleep 60", retry: { attempts: 1 } }]',
    )
    for (let stops = 1; stops <= 4; stops++) {
      const going = stops === 1 ? fixture.start(...RUN) : fixture.start('resume', 'r1')
      await until(
        () => fixture.count('ran') === stops,
        () => `start ${stops}; it said ${going.said()}`,
        going,
      )
      going.child.kill('SIGINT')
      expect((await going.ended).code).toBe(130)
    }
    await expectResumed()
    expect(await fixture.historyOf('work')).toHaveLength(5)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  test('is told by a preview as what it is: the attempt runs again under its number', async () => {
    const going = await startedWorking(WORK)
    going.child.kill('SIGINT')
    await going.ended
    const { stdout } = await fixture.reprise('resume', 'r1', '--dry-run', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ preview: { rerun: [{ step: 'work', attempt: 1, of: 2 }], waiting: [] } })
    expect((await fixture.show('r1')).steps[1]).toMatchObject({ state: 'interrupted', attempts: 1 })
  })
})

test('a step that was running at kill -9 is interrupted in every view', async () => {
  const going = await startedWorking(WORK)
  going.child.kill('SIGKILL')
  await going.ended
  const { counts, steps } = await fixture.show('r1')
  expect({ counts, work: steps[1]?.state }).toMatchObject({ counts: { interrupted: 1 }, work: 'interrupted' })
  const { stdout } = await fixture.reprise('ps')
  expect(stdout).toContain('\nnext: reprise resume r1\n')
})

describe('a second signal', () => {
  const STUBBORN = `
steps:
  - id: work
    shell: |
      trap '' TERM INT HUP
      echo x >> ran
      test -e go || { setsid sleep 61 & sleep 62; }
    retry: { attempts: 1 }
`
  for (const [first, second, exitCode] of [
    ['SIGINT', 'SIGINT', 130],
    ['SIGINT', 'SIGTERM', 143],
  ] as const) {
    test(`${first} and ${second} ends everything at once, also who does not listen`, async () => {
      const going = await startedWorking(STUBBORN)
      going.child.kill(first)
      await until(
        () => going.said().includes('again to stop at once'),
        () => 'word of the first',
      )
      going.child.kill(second)
      const startMs = performance.now()
      const { code, stderr } = await going.ended
      expect(code).toBe(exitCode)
      // It has a grace of five seconds.
      expect(performance.now() - startMs).toBeLessThan(4000)
      expect(stderr).toContain('a resume runs the interrupted attempt again. Resume with: reprise resume r1')
      expect(stderr).not.toContain('saved')
      await fixture.isClean()
      expect(performance.now() - startMs).toBeLessThan(4500)
      await expectResumed()
      expect(fixture.count('ran')).toBe(2)
    })
  }

  test('ends a script that never comes back', async () => {
    fixture = new CliFixture('steps: [{ id: work, script: { module: ./work.mjs } }]')
    fixture.write(
      'work.mjs',
      `import { appendFileSync, existsSync } from 'node:fs'
export default function () {
  appendFileSync('ran', 'x\\n')
  while (!existsSync('go'));
}
`,
    )
    const going = await fixture.startUntil(RUN, () => fixture.count('ran') === 1)
    going.child.kill('SIGINT')
    await until(
      () => going.said().includes('again to stop at once'),
      () => 'word of the first',
    )
    going.child.kill('SIGINT')
    expect((await going.ended).code).toBe(130)
    await expectResumed()
    expect(fixture.count('ran')).toBe(2)
  })
})

describe('one command', () => {
  test('is ended with all that it started, by a first signal or at once by a second', async () => {
    for (const [text, signals, exitCode] of [
      ['(setsid sleep 61 & sleep 62) & echo x >> ran; sleep 63', ['SIGTERM'], 143],
      ["trap '' TERM INT; echo x >> ran; setsid sleep 61 & sleep 62; sleep 63", ['SIGINT', 'SIGINT'], 130],
    ] as const) {
      fixture?.remove()
      fixture = new CliFixture()
      const going = fixture.start('exec', '--attempts', '3', '--', 'sh', '-c', text)
      await until(
        () => fixture.count('ran') === 1,
        () => `the command; it said ${going.said()}`,
        going,
      )
      const startMs = performance.now()
      for (const signal of signals) {
        going.child.kill(signal)
        // Two at the same time may be heard as one.
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      expect((await going.ended).code).toBe(exitCode)
      await fixture.isClean()
      // Within its grace of five seconds.
      expect(performance.now() - startMs).toBeLessThan(4500)
      expect(fixture.count('ran')).toBe(1)
    }
  })
})

describe('a reader that is gone', () => {
  test('stops the run in order: nobody hears how it would end', async () => {
    const going = await startedWorking(WORK.replace('echo x >> ran;', 'echo x >> ran; echo out;'))
    going.child.stderr?.destroy()
    // It notices when it next has something to say, such as that somebody asked it to stop.
    going.child.kill('SIGINT')
    expect((await going.ended).code).toBe(130)
    expect(fixture.left()).toEqual([])
    await expectResumed()
  })

  test('of its events: the attempt is stopped, the state is saved, and it is no success', async () => {
    fixture = new CliFixture(`
steps:
  - { id: before, shell: echo x >> before }
  - { id: work, shell: "until test -e closed; do sleep 0.02; done; echo x >> ran; echo one; sleep 0.5; test -e go || { echo two; sleep 60; }" }
`)
    const going = fixture.start(...RUN, '--ndjson')
    await until(
      () => fixture.count('before') === 1,
      () => 'the first step',
      going,
    )
    going.child.stdout?.destroy()
    fixture.write('closed', '')
    expect((await going.ended).code).toBe(143)
    expect(fixture.left()).toEqual([])
    await expectResumed()
    expect(fixture.count('before')).toBe(1)
  })
})
