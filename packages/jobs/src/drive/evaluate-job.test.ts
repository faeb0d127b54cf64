import { expect, it } from 'vitest'
import type { View } from 'reprise/durable'
import type { JobRun } from '../record/job-record.js'
import { timerKey } from '../record/names.js'
import { newTimer } from '../record/queue-shapes.js'
import { evaluateJob } from './evaluate-job.js'

it.each([true, false])('records a completion that stops stragglers a second time (best effort: %s)', (bestEffort) => {
  const { task } = newTimer({ kind: 'stop', job: 'j', dueAtMs: 0, correlationId: 'c' }, 0)
  const stopped = { ...task, status: 'succeeded', endedAtMs: 1 }
  const key = timerKey('j', 'stop')
  const view = {
    now: 5,
    gate: () => undefined,
    task: ({ id }: { id: string }) => (id === key.id ? stopped : undefined),
  }
  const settings = { bestEffort, minDcs: 1, stragglers: 'cancel', datacenterSuccess: 'all' }
  const detail = { name: 'n', targets: ['ap'], slots: {}, settings, startedAtMs: 0, completion: null, version: 1 }
  const job = { id: 'j', status: 'running', correlationId: 'c', detail } as unknown as JobRun
  const { events = [], tasks = [] } = evaluateJob(view as unknown as View, job, ['ap'], 5, { by: undefined })
  const names = events.map((event) => (event.detail as { event?: string } | null)?.event)
  expect(names.filter((name) => name !== undefined)).toEqual([
    'JobCompleted',
    ...(bestEffort ? ['BestEffortCompletion'] : []),
  ])
  expect(tasks).toMatchObject([{ id: key.id, status: 'waiting' }])
})
