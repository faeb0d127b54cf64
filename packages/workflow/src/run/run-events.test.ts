import type { RepriseEvent } from 'reprise'
import { expect, test } from 'vitest'
import { planFromDocument } from '../plan/plan-of.js'
import { BLIND_READERS } from '../plan/readers.js'
import type { RunEvent } from './run-event.js'
import { RunEvents } from './run-events.js'

const PLAN = planFromDocument({ name: 'w', steps: [{ id: 'a', shell: 'x', retry: 3 }] }, null, BLIND_READERS)
const SUCCEEDED = { state: 'succeeded', stopReason: null, failure: null, continued: false } as const

function relay(): { events: RunEvents; told: RunEvent[] } {
  const told: RunEvent[] = []
  return {
    told,
    events: new RunEvents(
      'r1',
      PLAN,
      (event) => told.push(event),
      () => 5,
    ),
  }
}

function taskEvent(change: object): RepriseEvent {
  const task = { timeMs: 5, taskId: 'a', scopeKind: 'run', scope: 'r1', attempt: 1, attempts: 3 }
  return { ...task, ...change } as unknown as RepriseEvent
}

test('events about the tasks of another run, or of a program, are not events of this run', () => {
  const { events, told } = relay()
  events.onEvent(taskEvent({ type: 'attempt_started', scope: 'r2' }))
  events.onEvent(taskEvent({ type: 'attempt_started', scopeKind: 'task' }))
  expect(told).toEqual([])
  events.onEvent(taskEvent({ type: 'attempt_started' }))
  expect(told).toMatchObject([{ type: 'attempt_started', run: 'r1', step: 'a' }])
})

test('what was counted for a step is dropped when its end is told, so that a second end counts anew', () => {
  const { events, told } = relay()
  const live = [
    { type: 'attempt_finished', outcome: 'failure', durationMs: 7, error: new Error('x') },
    { type: 'waiting', delayMs: 30, nextAttempt: 2 },
    { type: 'attempt_finished', outcome: 'success', durationMs: 4 },
    { type: 'call_succeeded', attemptsMade: 2, totalDelayMs: 30 },
  ]
  for (const change of live) events.onEvent(taskEvent(change))
  events.finished({ id: 'a' }, SUCCEEDED)
  events.finished({ id: 'a' }, SUCCEEDED)
  events.onEvent(taskEvent({ type: 'waiting', delayMs: 1, nextAttempt: 2 }))
  expect(told.slice(2)).toMatchObject([
    { type: 'step_finished', state: 'recovered', durationMs: 11, waitedMs: 30 },
    { type: 'step_finished', state: 'succeeded', durationMs: 0, waitedMs: 0 },
    { type: 'waiting', waitedMs: 1 },
  ])
})
