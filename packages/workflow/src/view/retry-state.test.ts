import type { TaskRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { waitedMsOf } from './retry-state.js'

const task = (more: object): TaskRecord =>
  ({
    status: 'waiting',
    dueAtMs: 30_000,
    progress: { retry: { totalDelayMs: 30_000, failures: 1 } },
    ...more,
  }) as TaskRecord

test('of a wait that lasts, only the part that is over was waited', () => {
  expect(waitedMsOf(task({}), 6000)).toBe(6000)
  expect(waitedMsOf(task({}), 31_000)).toBe(30_000)
  expect(waitedMsOf(task({}), -1000)).toBe(0)
})

test('of a step that does not wait, all of its waits are over', () => {
  expect(waitedMsOf(task({ status: 'running', dueAtMs: null }), 6000)).toBe(30_000)
  expect(waitedMsOf(task({ status: 'succeeded', dueAtMs: null }), 6000)).toBe(30_000)
})
