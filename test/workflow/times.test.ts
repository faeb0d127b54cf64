/**
 * How long a run took is one figure everywhere, and what it waited and lay still is apart from it. Real processes and
 * `kill -9`. Needs a build.
 */
import type { EventView, RunView } from '@reprise/workflow'
import type { RunDetail } from '@reprise/workflow/internal'
import { parseDuration } from 'reprise'
import { afterEach, expect, test, vi } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const DOWN_MS = 1500
const HOUR_MS = 3_600_000
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type RunTimes = Pick<RunDetail, 'activeMs' | 'waitedMs' | 'downMs'>
const eventsOf = (ndjson: string): EventView[] =>
  ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EventView)

const finishOf = (ndjson: string): { readonly timeMs: number } & RunTimes => {
  const { timeMs, detail } = eventsOf(ndjson).find((event) => event.type === 'run_summary')!
  return { timeMs, ...(detail as unknown as RunTimes) }
}

test('a run that was killed and resumed: the same figures in events, summary, show, watch and ps', async () => {
  fixture = new CliFixture(`
steps:
  - { id: first, shell: echo x }
  - id: second
    shell: test -e go
    retry: { attempts: 3, backoff: fixed, initial_delay: 500ms }
`)
  await fixture.killed(RUN, () => fixture.waits('second', 1))
  await pass(DOWN_MS)
  fixture.write('go', '')
  const resumed = await fixture.reprise('resume', 'r1', '--ndjson')
  const { activeMs, waitedMs, downMs } = finishOf(resumed.stdout)
  const detail = await fixture.show('r1')
  const { runs } = JSON.parse((await repriseInProcess(fixture, 'ps', '--json')).stdout) as { runs: RunView[] }
  const watched = finishOf((await repriseInProcess(fixture, 'watch', 'r1', '--ndjson')).stdout)
  for (const times of [detail, runs[0], watched]) expect(times).toMatchObject({ activeMs, waitedMs, downMs })

  expect(downMs).toBeGreaterThanOrEqual(DOWN_MS)
  expect(activeMs).toBeLessThan(downMs)
  expectWhole(detail)
  // A step took as long as its attempts, however long it lay still between them.
  for (const { history, activeMs: stepMs } of detail.steps) {
    const attempts = history.reduce((sum, { startedAtMs, endedAtMs }) => sum + endedAtMs - startedAtMs, 0)
    // Each of the times is rounded to a millisecond.
    expect(Math.abs(stepMs - attempts)).toBeLessThanOrEqual(history.length + 1)
  }
})

test.each(['SIGINT', 'SIGKILL'] as const)(
  'after %s in a wait and a resume, the rest of the wait is no work',
  async (signal) => {
    fixture = new CliFixture(`
steps:
  - id: flaky
    shell: test -e go || { touch go; exit 1; }
    retry: { attempts: 2, backoff: fixed, jitter: false, initial_delay: 5s }
`)
    const going = await fixture.startUntil(RUN, () => fixture.waits('flaky', 1))
    going.child.kill(signal)
    await going.ended
    await pass(DOWN_MS)
    await fixture.reprise('resume', 'r1')
    const detail = await fixture.show('r1')
    const [session, history] = [detail.sessions.at(-1), detail.steps[0]?.history ?? []]
    const restMs = (history.at(-1)?.startedAtMs ?? 0) - (session?.startedAtMs ?? 0)
    // Else the test shows nothing: the step did not wait any more when the run was resumed.
    expect(restMs).toBeGreaterThan(0)
    expect(detail.waitedMs).toBeGreaterThanOrEqual(restMs - CLOCKS_DIFFER_MS)
    expectWhole(detail)
  },
)

test('a clock that is set forward during a run is not counted as time that it took', async () => {
  fixture = new CliFixture('steps: [{ id: work, shell: "touch begun; until test -e go; do sleep 0.05; done" }]')
  const going = repriseInProcess(fixture, 'run', fixture.path('workflow.yaml'), '--run-id', 'r1', '--ndjson')
  const sinceMs = Date.now()
  try {
    await until(
      () => fixture.has('begun'),
      () => 'the step to begin',
    )
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS })
    fixture.write('go', '')
    const { activeMs, timeMs } = finishOf((await going).stdout)
    expect(timeMs).toBeGreaterThan(sinceMs + HOUR_MS)
    expect(activeMs).toBeLessThan(HOUR_MS)
  } finally {
    vi.useRealTimers()
  }
})

test('waits are apart from what ran, and add up with it to the whole time', async () => {
  fixture = new CliFixture(`
steps:
  - id: flaky
    shell: test -e go || { touch go; exit 1; }
    retry: { attempts: 2, backoff: fixed, initial_delay: 800ms }
`)
  await fixture.reprise(...RUN)
  const detail = await fixture.show('r1')
  const { activeMs, waitedMs, downMs, steps } = detail
  expect(waitedMs).toBeGreaterThanOrEqual(700)
  expect(downMs).toBe(0)
  expect(activeMs).toBeGreaterThanOrEqual(steps[0]?.activeMs ?? Infinity)
  expectWhole(detail)
  const { stderr } = await repriseInProcess(fixture, 'watch', 'r1')
  expect(stderr).toMatch(/succeeded: workflow, run r1, took \S+, waited \S+ \(1 recovered\)/)
})

test('an attempt that was killed counts for as long as its process is known to have lived', async () => {
  fixture = new CliFixture('steps: [{ id: work, shell: "touch begun; test -e go || sleep 60" }]')
  await fixture.killed(RUN, () => fixture.has('begun'))
  await pass(DOWN_MS)
  fixture.write('go', '')
  const before = await fixture.show('r1')
  expect([before.state, before.downMs]).toEqual(['interrupted', 0])
  expect(before.steps[0]?.activeMs).toBeLessThanOrEqual(conductedMs(before))
  const { stderr } = await fixture.reprise('resume', 'r1')
  const after = await fixture.show('r1')
  expect(after.steps[0]?.activeMs).toBeLessThanOrEqual(conductedMs(after))
  expect(after.downMs).toBeGreaterThanOrEqual(DOWN_MS)
  const [, told = ''] = /ok work \(([^)]+)\)/.exec(stderr) ?? []
  expect(parseDuration(told)).toBeLessThanOrEqual(conductedMs(after) + CLOCKS_DIFFER_MS)
})

test('a process that was killed in a map is known to have lived until it began the last item', async () => {
  fixture = new CliFixture(`
mode: mapreduce
map:
  input: { range: [1, 5] }
  max_parallel: 1
  agent_template: [{ shell: 'echo "\${item}" >> ran; test "\${item}" = 4 && test ! -e go && sleep 60; sleep 0.3' }]
`)
  await fixture.killed(RUN, () => fixture.count('ran') === 4)
  const [held] = await fixture.ledger((ledger) =>
    ledger.list({ scopeKind: 'run', scope: 'r1/map', statuses: ['running'] }),
  )
  const lastStartMs = Math.floor(held?.progress.current?.startedAtMs ?? Infinity)
  const killed = await fixture.show('r1')
  expect(killed.sessions[0]?.lastSeenAtMs).toBeGreaterThanOrEqual(lastStartMs)
  await pass(DOWN_MS)
  fixture.write('go', '')
  expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
  const detail = await fixture.show('r1')
  expect(detail.sessions[0]?.lastSeenAtMs).toBeGreaterThanOrEqual(lastStartMs)
  // The map took as long as processes conducted it, not the time in between.
  expect(detail.downMs).toBeGreaterThanOrEqual(DOWN_MS)
  expect(detail.steps[0]?.activeMs).toBeLessThanOrEqual(conductedMs(detail))
})

test('watched after a resume: steps in their order, with the last line that they wrote', async () => {
  fixture = new CliFixture(`
steps:
  - { id: zebra, shell: "echo x >> begun; until test -e go; do sleep 0.05; done" }
  - { id: ant, shell: "echo first; echo last; until test -e seen; do sleep 0.05; done" }
`)
  await fixture.killed(RUN, () => fixture.count('begun') === 1)
  const going = await fixture.startUntil(['resume', 'r1'], () => fixture.count('begun') === 2)
  const watching = fixture.start('watch', 'r1', '--ndjson')
  const tells = (word: string): Promise<void> =>
    until(
      () => watching.said().includes(word),
      () => `${word} in what is watched: ${watching.said()}`,
      watching,
    )
  await tells('"step":"zebra"')
  fixture.write('go', '')
  await tells('"line":"last"')
  fixture.write('seen', '')
  const [watched] = await Promise.all([watching.ended, going.ended])
  const steps = eventsOf(watched.stdout).flatMap(({ type, step }) =>
    step !== null && type !== 'output' ? [`${type} ${step}`] : [],
  )
  // Of a step that has not ended also what happened before.
  expect(steps).toEqual([
    'interrupted zebra',
    'resumed zebra',
    'attempt_started zebra',
    'attempt_finished zebra',
    'attempt_started zebra',
    'attempt_finished zebra',
    'step_finished zebra',
    'attempt_started ant',
    'attempt_finished ant',
    'step_finished ant',
  ])
})

test('after a reset, a step names the log of its last attempts, not that of an earlier generation', async () => {
  fixture = new CliFixture('steps: [{ id: work, shell: "test -e mute || echo said; exit 1" }]')
  await fixture.reprise(...RUN)
  const shown = async (): Promise<string> => (await fixture.reprise('show', 'r1', 'work')).stdout
  expect(await shown()).toMatch(/log: .*1\.1\.1\.log/)
  await fixture.reprise('resume', 'r1', '--reset-retries')
  expect(await shown()).toMatch(/log: .*2\.1\.1\.log/)
  fixture.write('mute', '')
  await fixture.reprise('resume', 'r1', '--reset-retries')
  expect(await shown()).not.toContain('log:')
})

test('a dry run fills in parameters, and leaves what only the run knows', async () => {
  fixture = new CliFixture(`
params: { day: today, region: null }
steps:
  - { id: a, shell: "echo \${day} \${region} $\${day} \${HOME:-x}", capture: said }
  - { id: b, run: [echo, "\${said}", "\${env.HOME}"] }
`)
  const { stdout } = await repriseInProcess(
    fixture,
    'run',
    fixture.path('workflow.yaml'),
    '--dry-run',
    '--param',
    'region=eu',
  )
  expect(stdout).toContain('with day=today region=eu')
  expect(stdout).toContain('echo today eu $${day} ${HOME:-x}')
  expect(stdout).toContain('echo ${said} ${env.HOME}')
  const json = await repriseInProcess(
    fixture,
    'run',
    fixture.path('workflow.yaml'),
    '--dry-run',
    '--param',
    'region=eu',
    '--json',
  )
  expect(JSON.parse(json.stdout)).toMatchObject({ params: { day: 'today', region: 'eu' } })
})

/** While processes conducted the run. */
function conductedMs({ sessions }: RunDetail): number {
  return sessions.reduce((sum, { startedAtMs, lastSeenAtMs }) => sum + lastSeenAtMs - startedAtMs, 0)
}

/** The clock of a process and that of the system are rounded, and the latter may be corrected while a test runs. */
const CLOCKS_DIFFER_MS = 50

/** The three parts are the time from the start to a moment between the end of the last attempt and that of the run. */
function expectWhole({ activeMs, waitedMs, downMs, startedAtMs, endedAtMs, steps }: RunDetail): void {
  const endMs = startedAtMs + activeMs + waitedMs + downMs
  const attempts = steps.flatMap(({ history }) => history.map((attempt) => attempt.endedAtMs))
  expect(endMs).toBeGreaterThanOrEqual(Math.max(...attempts) - CLOCKS_DIFFER_MS)
  expect(endMs).toBeLessThanOrEqual((endedAtMs ?? 0) + CLOCKS_DIFFER_MS)
}
