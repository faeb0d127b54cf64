/**
 * `run --ndjson` and `events --ndjson` are one language: what is recorded of a run is the same line while it goes on and
 * later, over denials, breakers, a kill and a resume. Needs a build.
 */
import type { EventView } from '@reprise/workflow'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const LIVE_ONLY: ReadonlySet<string> = new Set([
  ...['run_state', 'run_summary', 'output', 'parked', 'fallback_started'],
  ...['map_counts', 'map_progress', 'map_summary', 'map_note', 'item_failed'],
])

const eventsOf = (ndjson: string): EventView[] =>
  ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as EventView)
const recordedIn = (ndjson: string): EventView[] => eventsOf(ndjson).filter(({ type }) => !LIVE_ONLY.has(type))
const recorded = async (): Promise<EventView[]> => eventsOf((await fixture.reprise('events', 'r1', '--ndjson')).stdout)

const WORKFLOW = `
breakers: { shop: { failure_threshold: 2, recovery_timeout: 200ms } }
budgets: { retries: { type: count, total: 1 } }
retry_defaults: { backoff: fixed, initial_delay: 10ms, on_failure: continue }
steps:
  - { id: recovers, shell: "test -e up || { touch up; exit 1; }", retry: { attempts: 3, budget: retries } }
  - { id: left-out, shell: "true", when: 1 > 2 }
  - { id: denied, shell: exit 1, retry: { attempts: 3, budget: retries } }
  - { id: opens, shell: exit 1, retry: { attempts: 3, breaker: shop } }
  - { id: later, shell: sleep 0.3 }
  - { id: closes, shell: "true", retry: { attempts: 3, breaker: shop } }
  - { id: falls, shell: exit 1, retry: { attempts: 1, on_failure: { fallback: { command: echo x } } } }
  - { id: each, map: { input: [1, 2], agent_template: [{ shell: echo hi }] } }
  - { id: held, shell: "echo x >> begun; test -e go || sleep 60" }
finally:
  - { id: last, shell: "true" }
`

test('every recorded event is the same line while the run goes on and later, over kill -9 and a resume', async () => {
  fixture = new CliFixture(WORKFLOW)
  const going = fixture.start('run', 'workflow.yaml', '--run-id', 'r1', '--ndjson')
  await until(
    () => recordedIn(going.said()).some(({ type, step }) => type === 'attempt_started' && step === 'held'),
    () => 'the last step to begin',
    going,
  )
  going.child.kill('SIGKILL')
  const first = (await going.ended).stdout
  expect(recordedIn(first)).toEqual(await recorded())
  fixture.write('go', '')
  const second = await fixture.reprise('resume', 'r1', '--ndjson')
  expect(second.code).toBe(3)
  const all = await recorded()
  expect([...recordedIn(first), ...recordedIn(second.stdout)]).toEqual(all)

  const of = (type: string): unknown[] => all.filter((event) => event.type === type).map(({ detail }) => detail)
  expect(of('attempt_denied')).toMatchObject([
    { gate: 'budget:retries@r1', reason: 'count_exhausted' },
    { gate: 'breaker:shop', reason: 'breaker_open' },
  ])
  expect(of('breaker_changed')).toEqual([
    { breaker: 'shop', from: 'closed', to: 'open' },
    { breaker: 'shop', from: 'open', to: 'half_open' },
    { breaker: 'shop', from: 'half_open', to: 'closed' },
  ])
  const ofHeld = all.filter(({ step, attempt }) => step === 'held' && attempt !== null)
  expect(new Set(ofHeld.map(({ correlationId }) => correlationId)).size).toBe(1)
  expect(ofHeld.map(({ type }) => type)).toEqual([
    ...['attempt_started', 'attempt_finished', 'attempt_started', 'attempt_finished'],
  ])
})

test('whoever watches is told the same lines of what happens from then on', async () => {
  fixture = new CliFixture(`
steps:
  - { id: gate, shell: "until test -e go; do sleep 0.05; done" }
  - { id: work, shell: "test -e up || { touch up; exit 1; }", retry: { attempts: 2, initial_delay: 10ms } }
`)
  const going = await fixture.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], async () => {
    const { stdout } = await fixture.reprise('events', 'r1', '--ndjson')
    return stdout.includes('attempt_started')
  })
  const watching = fixture.start('watch', 'r1', '--ndjson')
  const following = fixture.start('events', 'r1', '--follow', '--ndjson')
  await until(
    () => watching.said().includes('attempt_started'),
    () => 'the first step in what is watched',
    watching,
  )
  fixture.write('go', '')
  const [watched] = await Promise.all([watching.ended, going.ended])
  const all = await recorded()
  expect(recordedIn(watched.stdout)).toEqual(all)
  expect(eventsOf((await following.ended).stdout)).toEqual(all)
})
