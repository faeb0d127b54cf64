/** What observers are told of durable tasks, and that it adds up with what the ledger says. */
import { describe, expect, it } from 'vitest'
import { createMetrics, logger } from 'reprise/observe'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { concurrencyBudget } from '../../packages/reprise/src/core/budgets/concurrency.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { rejection, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 3, initialDelay: '1s', jitter: false } as const

interface Ear {
  readonly events: RepriseEvent[]
  readonly observers: readonly [{ onEvent(event: RepriseEvent): void }]
  readonly types: () => string[]
}

function ear(): Ear {
  const events: RepriseEvent[] = []
  return {
    events,
    observers: [{ onEvent: (event) => events.push(event) }],
    types: () => events.map(({ type, attempt }) => `${type} ${attempt}`),
  }
}

describe('observers of a durable task', () => {
  it('are told what they are told of every call, with the ids of the task', async () => {
    const model = new ProcessModel()
    const { observers, events, types } = ear()
    const { durable } = await model.open({ observers })
    const task = durable.task('t', POLICY, (_input: null, { attempt }) => {
      if (attempt === 1) throw new RangeError('no luck')
      return 'fine'
    })
    const result = task.run(null, { id: 'a' })
    await turns()
    await model.clock.advance(1000)
    expect(await result).toBe('fine')
    expect(types()).toEqual([
      'call_started 0',
      'attempt_started 1',
      'attempt_finished 1',
      'waiting 1',
      'attempt_started 2',
      'attempt_finished 2',
      'call_succeeded 2',
    ])
    const { correlationId } = await model.task('t', 'a')
    const [{ callId }] = events as [RepriseEvent]
    for (const event of events)
      expect(event).toMatchObject({ key: 't', taskId: 'a', scopeKind: 'task', scope: 't', correlationId, callId })
    expect(callId).toBeGreaterThan(0)
    expect(Number.isSafeInteger(callId)).toBe(true)
    expect(events[2]).toMatchObject({ outcome: 'failure', launch: 1, won: false, error: new RangeError('no luck') })
    expect(events[3]).toMatchObject({ delayMs: 1000, nextAttempt: 2, error: new RangeError('no luck') })
    expect(events[6]).toMatchObject({ attemptsMade: 2, totalDelayMs: 1000, elapsedMs: 1000 })
    await durable.close()
  })

  it('are told of a failure for good, and of its dead letter', async () => {
    const model = new ProcessModel()
    const lines: string[] = []
    const { observers, events, types } = ear()
    const { durable } = await model.open({ observers: [...observers, logger((line) => lines.push(line))] })
    const task = durable.task('t', { attempts: 1 }, () => {
      throw new Error('order 17 is gone')
    })
    await rejection(task.run(null, { id: 'a' }))
    expect(types()).toEqual([
      'call_started 0',
      'attempt_started 1',
      'attempt_finished 1',
      'call_failed 1',
      'dead_lettered 1',
    ])
    expect(events[3]).toMatchObject({ stopReason: 'attempts_exhausted', attemptsMade: 1 })
    expect(events[4]).toMatchObject({ signature: 'Error: order # is gone' })
    expect(lines).toEqual(['t/a failed after 1 attempt (attempts_exhausted): order 17 is gone'])
    await durable.close()
  })

  it('are told of a takeover under one correlation id, with the id of the resume from then on', async () => {
    const model = new ProcessModel()
    const [first, second] = [ear(), ear()]
    const lost = await model.open({ observers: first.observers })
    await lost.durable.task('t', POLICY, () => new Promise<never>(() => undefined)).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    const heir = await model.open({ observers: second.observers })
    const task = heir.durable.task('t', POLICY, () => 'fine')
    await heir.durable.resume()
    expect(await task.run(null, { id: 'a' })).toBe('fine')
    expect(first.types()).toEqual(['call_started 0', 'attempt_started 1'])
    expect(second.types()).toEqual([
      'resumed 1',
      'interrupted 1',
      'restored 0',
      'attempt_started 1',
      'attempt_finished 1',
      'call_succeeded 1',
    ])
    // What was restored is of the process, not of the call.
    const ofCall = second.events.filter(({ type }) => type !== 'restored')
    const ids = new Set([...first.events, ...ofCall].map(({ correlationId, callId }) => `${correlationId} ${callId}`))
    expect(ids.size).toBe(1)
    const resumeIds = new Set(ofCall.filter(({ type }) => type !== 'interrupted').map(({ resumeId }) => resumeId))
    expect(resumeIds.size).toBe(1)
    expect([...resumeIds][0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(second.events[0]).toMatchObject({ from: lost.line.owner?.id })
    expect(second.events[1]).toMatchObject({ attempt: 1, launch: 1, execution: 1, orderly: false })
    await heir.durable.close()
  })

  it('are told of an orderly stop, of a reset and of a cancellation', async () => {
    const model = new ProcessModel()
    const { observers, events, types } = ear()
    const host = await model.open({ observers })
    const hanging = host.durable.task('t', POLICY, () => new Promise<never>(() => undefined))
    await hanging.start(null, { id: 'a' })
    await turns()
    await hanging.cancel('a')
    await hanging.reset('a')
    await turns()
    await host.durable.close()
    expect(types()).toEqual([
      'call_started 0',
      'attempt_started 1',
      'call_failed 1',
      'reset 0',
      'attempt_started 1',
      'interrupted 1',
    ])
    expect(events[2]).toMatchObject({ stopReason: 'aborted' })
    expect(events[5]).toMatchObject({ orderly: true })
  })

  it('hear of every answer of a budget, of the line, and what came of it', async () => {
    const model = new ProcessModel()
    const { observers, events } = ear()
    const budgets = { few: countBudget({ total: 1 }), door: concurrencyBudget({ max: 1 }) }
    const { durable } = await model.open({ observers, budgets })
    const policy: PolicyInput = { attempts: 5, initialDelay: '1s', jitter: false, budget: 'few' }
    const task = durable.task('t', policy, () => {
      throw new Error('no')
    })
    await task.start(null, { id: 'a' })
    await turns()
    await model.clock.advance(10_000)
    await turns()
    const answers = events.filter(({ type }) => type === 'budget_decision')
    expect(answers.map((event) => 'allowed' in event && `${event.launch} ${event.allowed}`)).toContain('2 true')
    for (const event of events) if ('launch' in event) expect(event.attempt).toBe(event.launch)
    expect(await task.status('a')).toMatchObject({ state: 'failed', stopReason: 'budget_denied', attempts: 2 })
    expect(events.at(-2)).toMatchObject({ type: 'call_failed', stopReason: 'budget_denied' })
    await durable.close()
  })

  it('count what the ledger counts', async () => {
    const model = new ProcessModel()
    const metrics = createMetrics()
    const { observers, events } = ear()
    const { durable } = await model.open({ observers: [...observers, metrics] })
    const task = durable.task('t', POLICY, (input: number, { attempt }) => {
      if (attempt <= input) throw new Error('no')
      return input
    })
    const runs = Promise.allSettled([0, 1, 2, 3, 4].map((input) => task.run(input, { id: `i${input}` })))
    await turns()
    await model.clock.advance(1000)
    await turns()
    await model.clock.advance(2000)
    await runs
    const rows = (
      await Promise.all(
        [0, 1, 2, 3, 4].map((input) => model.ledger.attempts({ scopeKind: 'task', scope: 't', id: `i${input}` })),
      )
    ).flat()
    const tasks = await model.ledger.list({ scopeKind: 'task', scope: 't' })
    const sum = (name: string): number => {
      const family = metrics.read().find((one) => one.name === name)
      return (family?.samples ?? []).reduce((total, one) => total + ('value' in one ? one.value : one.sum), 0)
    }
    expect(sum('reprise_attempts_total')).toBe(rows.length)
    expect(sum('reprise_calls_total')).toBe(5)
    expect(sum('reprise_task_events_total')).toBe((await model.ledger.deadLetters()).length)
    const delays = tasks.reduce((total, { progress }) => total + progress.retry.totalDelayMs, 0)
    expect(sum('reprise_wait_seconds')).toBeCloseTo(delays / 1000)
    expect(events.filter(({ type }) => type === 'attempt_finished')).toHaveLength(rows.length)
    await durable.close()
  })

  it('that throw change nothing', async () => {
    const model = new ProcessModel()
    const onEvent = (): never => {
      throw new Error('observer broken in a test')
    }
    const { durable } = await model.open({ observers: [{ onEvent }] })
    expect(await durable.task('t', POLICY, () => 'fine').run(null, { id: 'a' })).toBe('fine')
    await durable.close()
  })
})
