import type { AttemptRow } from 'reprise/durable'
import { expect, test } from 'vitest'
import { sampleTask } from '../../../reprise/src/testing/sample-task.js'
import { type EventContext, eventsOfTask } from './read-events.js'

const CONTEXT: EventContext = { sessions: [], allowed: { attempts: 9, retryBudgetMs: null } }
const TASK = sampleTask({ scopeKind: 'run', scope: 'r', id: 's', status: 'waiting' })

/** Ends a second after the one before it. */
function row(at: number, changes: Partial<AttemptRow>): AttemptRow {
  return {
    ...{ scopeKind: 'run', scope: 'r', id: 's', generation: 1, attempt: 1, execution: 1 },
    ...{ startedAtMs: at * 1000 - 500, endedAtMs: at * 1000, outcome: 'failure', delayBeforeMs: 0 },
    ...{ failure: null, signature: null, owner: 'me' },
    ...changes,
  }
}

const denial = { gate: 'breaker:shop', reason: 'breaker_open' } as const
const denied = {
  outcome: 'denied',
  failure: { name: 'DeniedError', message: 'no', denial: { ...denial, until: null } },
} as unknown as Partial<AttemptRow>

test('the wait before an attempt counts each attempt of its generation once, over interruptions and denials', () => {
  const rows = [
    row(1, {}),
    row(2, { attempt: 2, delayBeforeMs: 100, outcome: 'interrupted' }),
    // The same attempt after a lost process, whose wait was chosen anew.
    row(3, { attempt: 2, execution: 2, delayBeforeMs: 150 }),
    // Two at once: the second of them did not wait.
    row(4, { attempt: 3, delayBeforeMs: 200 }),
    row(4, { attempt: 4, delayBeforeMs: 0 }),
    // Denied with the failure before it, and after a wait.
    row(4, { attempt: 5, ...denied }),
    row(6, { attempt: 6, delayBeforeMs: 400, ...denied }),
    row(7, { generation: 2, attempt: 1 }),
    row(8, { generation: 2, attempt: 2, delayBeforeMs: 50 }),
    row(9, { generation: 2, attempt: 3, delayBeforeMs: 60, outcome: 'success' }),
  ]
  const events = eventsOfTask(TASK, rows, CONTEXT)
  expect(events.map(({ type, attempt }) => `${type} ${attempt}`)).toEqual([
    ...['attempt_started 1', 'attempt_finished 1'],
    ...['waiting 2', 'attempt_started 2', 'attempt_finished 2', 'attempt_started 2', 'attempt_finished 2'],
    ...['waiting 3', 'attempt_started 3', 'attempt_finished 3'],
    ...['waiting 4', 'attempt_started 4', 'attempt_finished 4'],
    ...['attempt_denied 5', 'waiting 6', 'attempt_denied 6'],
    ...['attempt_started 1', 'attempt_finished 1'],
    ...['waiting 2', 'attempt_started 2', 'attempt_finished 2'],
    ...['waiting 3', 'attempt_started 3', 'attempt_finished 3'],
  ])
  const waits = events.filter(({ type }) => type === 'waiting')
  const wait = (generation: number, attempt: number, atMs: number, delayMs: number, waitedMs: number): object => ({
    ...{ timeMs: atMs, attempt, attemptsAllowed: 9 },
    detail: { generation, delayMs, nextAttemptAtMs: atMs + delayMs, waitedMs, retryBudgetMs: null },
  })
  expect(waits).toMatchObject([
    wait(1, 2, 1000, 100, 100),
    wait(1, 3, 3000, 200, 350),
    wait(1, 4, 4000, 0, 350),
    wait(1, 6, 4000, 400, 750),
    wait(2, 2, 7000, 50, 50),
    wait(2, 3, 8000, 60, 110),
  ])
})

test('each row of a long history is read a few times, however many there are', () => {
  const COUNT = 2000
  let reads = 0
  const counted = (one: AttemptRow): AttemptRow =>
    new Proxy(one, {
      get: (target, name, self) => {
        reads++
        return Reflect.get(target, name, self) as unknown
      },
    })
  const rows = Array.from({ length: COUNT }, (_, index) =>
    counted(row(index + 1, { attempt: index + 1, delayBeforeMs: index === 0 ? 0 : 10 })),
  )
  const last = eventsOfTask(TASK, rows, CONTEXT).findLast(({ type }) => type === 'waiting')
  expect(last?.detail).toMatchObject({ waitedMs: 10 * (COUNT - 1) })
  expect(reads).toBeLessThan(COUNT * 50)
})
