/** The end of a task is written in one commit with what it means for its group, on every kind of ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import { RecordedFailureError } from '../../packages/reprise/src/durable/errors.js'
import type { TaskGroup } from '../../packages/reprise/src/durable/group.js'
import { fingerprint } from '../../packages/reprise/src/durable/policy-record.js'
import { cancel } from '../../packages/reprise/src/durable/transitions.js'
import type { Ledger, NewTask } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { keyIn, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { type DurableOptions, openDurable, openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { testDatabase } from '../postgres/shared-server.js'
import { countedTally, EMPTY, makeTally, recounted, tallyGroup, tallyOf } from './tally-group.js'
import { withVerbs } from './with-verbs.js'
import { deferred, rejection, until, ProcessModel } from './process-model.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-groups-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})
let places = 0

const RUN = 'group-1'
const SCOPE = { scopeKind: 'task', scope: 'member' } as const
const FAST = { attempts: 2, initialDelay: '1ms', jitter: false } as const

/** The same ledger for one process after the other. */
function kept(ledger: Ledger): Ledger {
  return new Proxy(ledger, {
    get: (target, verb) => {
      const value: unknown = Reflect.get(target, verb)
      if (verb === 'close') return () => Promise.resolve()
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

describe.each<[string, () => Promise<Ledger>]>([
  ['memory', async () => new MemoryLedger()],
  ['SQLite', () => openLedger(`sqlite:${path.join(directory, `${places++}.db`)}`)],
  ['PostgreSQL', () => openLedger(`${database.url}?schema=groups_${places++}`)],
])('a group on %s', (_name, open) => {
  let ledger: Ledger
  const opened: Durable[] = []
  beforeEach(async () => {
    ledger = await open()
  })
  afterEach(async () => {
    for (const durable of opened.splice(0)) await durable.close()
    await ledger.close()
  })
  const process = async (options: DurableOptions = {}): Promise<Durable> => {
    const durable = await openDurable(kept(ledger), options)
    opened.push(durable)
    return durable
  }
  const expectTally = async (expected: Partial<typeof EMPTY>): Promise<void> => {
    expect(await tallyOf(ledger, RUN)).toEqual({ ...EMPTY, ...expected })
    expect(await countedTally(ledger, 'member')).toEqual({ ...EMPTY, ...expected })
  }

  it('counts successes, retries and failures in the commit of each', async () => {
    await makeTally(ledger, RUN, 3)
    const durable = await process()
    const member = durable.task(
      'member',
      FAST,
      async (fails: number, { attempt }) => {
        if (attempt > 1) expect((await tallyOf(ledger, RUN)).retrying).toBeGreaterThan(0)
        if (attempt <= fails) throw new Error('no')
      },
      { group: tallyGroup(RUN) },
    )
    const ends = await Promise.allSettled([0, 1, 2].map((fails) => member.run(fails, { id: `m${fails}` })))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    await expectTally({ succeeded: 2, failed: 1 })
  })

  it('has no row locked by a success that does not concern it', async () => {
    await makeTally(ledger, RUN, 2)
    const locked: (readonly string[])[] = []
    const watched = withVerbs(kept(ledger), {
      transact: (keys, decide) => {
        if (keys.tasks.length > 0) locked.push(keys.runs ?? [])
        return ledger.transact(keys, decide)
      },
    })
    const durable = await openDurable(watched)
    opened.push(durable)
    const group: TaskGroup = { ...tallyGroup(RUN), classes: ['failed'] }
    const member = durable.task('member', 1, (fails: boolean) => (fails ? Promise.reject(new Error('no')) : null), {
      group,
    })
    await member.run(false, { id: 'good' })
    expect(locked).toEqual([[]])
    await rejection(member.run(true, { id: 'bad' }))
    expect(locked).toEqual([[], [RUN]])
  })

  it('counts what was cancelled and what is reset', async () => {
    await makeTally(ledger, RUN, 2)
    const durable = await process()
    const held = deferred()
    let isFailing = true
    const member = durable.task(
      'member',
      { ...FAST, attempts: 1 },
      async (doing: string) => {
        if (doing === 'hold') await held.promise
        else if (isFailing) throw new Error('no')
      },
      { group: tallyGroup(RUN) },
    )
    const running = member.run('hold', { id: 'a' })
    await until(async () => (await ledger.get(keyIn(SCOPE, 'a')))?.status === 'running')
    await member.cancel('a')
    expect(await rejection(running)).toMatchObject({ stopReason: 'aborted' })
    held.resolve()
    await rejection(member.run('fail', { id: 'b' }))
    await expectTally({ cancelled: 1, failed: 1 })
    await member.cancel('a')
    await expectTally({ cancelled: 1, failed: 1 })
    isFailing = false
    await durable.drain()
    await member.reset('b')
    await expectTally({ cancelled: 1, fresh: 1 })
    const next = await process()
    next.task('member', { ...FAST, attempts: 1 }, async (_doing: string) => undefined, { group: tallyGroup(RUN) })
    await until(async () => (await tallyOf(ledger, RUN)).fresh === 0)
    await expectTally({ cancelled: 1, succeeded: 1 })
  })

  it('counts what is undecided, and what a person decides', async () => {
    await makeTally(ledger, RUN, 2)
    const first = await process()
    const options = { onInterrupt: 'fail', group: tallyGroup(RUN) } as const
    const hold = first.task('member', FAST, (_input: null) => new Promise<void>(() => undefined), options)
    await hold.startAll([
      { input: null, id: 'a' },
      { input: null, id: 'b' },
    ])
    await until(async () => (await ledger.list({ ...SCOPE, statuses: ['running'] })).length === 2)
    await first.stop()
    await expectTally({ undecided: 2 })
    const second = await process()
    const member = second.task('member', FAST, async (_input: null) => undefined, options)
    await member.decide('a', 'done')
    await member.decide('b', 'rerun')
    await until(async () => (await tallyOf(ledger, RUN)).succeeded === 2)
    await expectTally({ succeeded: 2 })
  })

  it.each([
    ['decided to have happened', 'done', { undecided: 0, succeeded: 1 }],
    ['to run again', 'rerun', { undecided: 0, fresh: 1 }],
  ] as const)('that counts what is undecided hears of a task that is %s', async (_decision, answer, expected) => {
    await makeTally(ledger, RUN, 1)
    const options = { onInterrupt: 'fail', group: { ...tallyGroup(RUN), classes: ['undecided'] } } as const
    const first = await process()
    // A task that is claimed, and whose function has not been called when the process stops, is not undecided.
    let hasBegun = false
    const holding = (_input: null): Promise<void> => {
      hasBegun = true
      return new Promise(() => undefined)
    }
    const hold = first.task('member', FAST, holding, options)
    await hold.start(null, { id: 'a' })
    await until(() => hasBegun)
    await first.stop()
    await expectTally({ undecided: 1 })
    const second = await process()
    const member = second.task('member', FAST, async (_input: null) => undefined, options)
    await member.decide('a', answer)
    expect(await tallyOf(ledger, RUN)).toMatchObject(expected)
  })

  it('keeps the charge of an allotment whose row the group changes in the same commit', async () => {
    const durable = await process()
    const key = 'budget:imports'
    const group: TaskGroup = {
      keys: () => ({ gates: [key] }),
      follow: (view, { to }) => {
        const gate = view.gate(key)
        if (gate === undefined) return {}
        const { state, ...rest } = gate
        return { gates: [{ ...rest, state: { ...(state as object), [to]: true } }] }
      },
    }
    const member = durable.task<null, null>('member', FAST, () => Promise.reject(new Error('no')), {
      group,
      allot: { budget: 'imports', total: 5 },
    })
    await rejection(member.run(null, { id: 'a' }))
    const gate = (await ledger.gates()).find((one) => one.key === key)
    expect(gate?.state).toMatchObject({ used: 1, retrying: true, failed: true })
  })

  it('refuses a change of a task that is recorded while the change is being prepared', async () => {
    await makeTally(ledger, RUN, 1)
    const early = await process()
    const late = withVerbs(kept(ledger), {
      get: async (key) => {
        const found = await ledger.get(key)
        await early.task<null, null>('member', FAST, () => null, { group: tallyGroup(RUN) }).start(null, { id: 'a' })
        return found
      },
    })
    const durable = await openDurable(late)
    opened.push(durable)
    const member = durable.task<null, null>('member', FAST, () => null, { group: tallyGroup(RUN) })
    expect(await rejection(member.cancel('a'))).toMatchObject({ kind: 'not_found' })
    await until(async () => (await ledger.get(keyIn(SCOPE, 'a')))?.status === 'succeeded')
    await expectTally({ succeeded: 1 })
  })

  it('counts a task that is over before it begins', async () => {
    await makeTally(ledger, RUN, 2)
    const first = await process()
    const slow = { attempts: 5, initialDelay: '150ms', jitter: false, backoff: 'fixed' } as const
    const failing = async (_input: null): Promise<void> => {
      throw new Error('no')
    }
    const options = { group: tallyGroup(RUN) }
    const late = first.task('member', { ...slow, timeout: '1s' }, failing, options)
    await late.start(null, { id: 'late' })
    const isWaiting = async (): Promise<boolean> => (await tallyOf(ledger, RUN)).retrying === 1
    await until(isWaiting)
    await first.close()
    const deadlineAtMs = (await ledger.get(keyIn(SCOPE, 'late')))?.progress.retry.deadlineAtMs ?? Infinity
    await until(async () => (await ledger.now()) > deadlineAtMs)
    const second = await process()
    second.task('member', { ...slow, timeout: '1s' }, failing, options)
    await until(async () => (await tallyOf(ledger, RUN)).failed === 1)
    expect(await ledger.get(keyIn(SCOPE, 'late'))).toMatchObject({ status: 'failed', stopReason: 'timeout' })
    expect(await tallyOf(ledger, RUN)).toEqual({ ...EMPTY, fresh: 1, failed: 1 })
    expect(await ledger.deadLetters()).toHaveLength(1)
  })

  it('counts a task that a new policy leaves no attempt', async () => {
    await makeTally(ledger, RUN, 1)
    const policy = { initialDelay: '20ms', jitter: false, backoff: 'fixed' } as const
    const failing = async (_input: null): Promise<void> => {
      throw new Error('no')
    }
    const options = { group: tallyGroup(RUN) }
    const first = await process()
    const member = first.task('member', { ...policy, attempts: 5 }, failing, options)
    await member.start(null, { id: 'a' })
    await until(async () => ((await ledger.get(keyIn(SCOPE, 'a')))?.progress.retry.failures ?? 0) >= 3)
    await first.close()
    const second = await process({ policyChange: 'accept' })
    const again = second.task('member', { ...policy, attempts: 2 }, failing, options)
    const error = await rejection(again.run(null, { id: 'a' }))
    expect(error).toMatchObject({ stopReason: 'attempts_exhausted' })
    await expectTally({ failed: 1 })
  })

  it('creates a task in the commit of the last end, which runs at once', async () => {
    const COUNT = 12
    await makeTally(ledger, RUN, COUNT)
    const durable = await process()
    const ran: string[] = []
    let template: NewTask
    const last = keyIn({ scopeKind: 'task', scope: 'report' }, 'last')
    const group: TaskGroup = {
      keys: () => ({ runs: [RUN], tasks: [last] }),
      follow: (view, { from, to }, now) => {
        const run = recounted(view.run(RUN), from, to, now)
        const isLast = (run.detail as { fresh: number }).fresh === 0
        const task = { ...template.task, dueAtMs: now, createdAtMs: now, updatedAtMs: now }
        return { runs: [{ run }], created: isLast ? [{ ...template, task }] : [] }
      },
    }
    const report = durable.task('report', FAST, async (_input: string, { taskId }) => void ran.push(taskId))
    await report.run('sample', { id: 'sample' })
    const sample = (await ledger.get(keyIn(last, 'sample'))) as TaskRecord
    const policy = await ledger.policy(sample.policyHash)
    template = {
      task: { ...sample, ...last, status: 'waiting', fence: 0, progress: freshOf(sample), stopReason: null },
      policy: policy as NewTask['policy'],
      payloadHash: fingerprint({ name: 'report', input: 'sample' }),
    }
    const member = durable.task('member', FAST, async (_input: null) => undefined, { group })
    const ids = Array.from({ length: COUNT }, (_, index) => ({ input: null, id: `m${index}` }))
    await member.startAll(ids)
    await until(() => ran.includes('last'))
    expect(ran).toEqual(['sample', 'last'])
    await expectTally({ succeeded: COUNT })
    // Whoever asks for it finds it: it is a task like any other.
    await report.run('sample', { id: 'last' })
  })

  it('settles callers of a task that the end of another one cancels', async () => {
    const durable = await process()
    const needs = keyIn({ scopeKind: 'task', scope: 'needs' }, 'b')
    const group: TaskGroup = {
      keys: () => ({ tasks: [needs] }),
      follow: (view, { to }, now) => {
        const task = view.task(needs)
        return to === 'failed' && task?.status === 'waiting' ? cancel(task, now) : {}
      },
    }
    const policy = { attempts: 2, initialDelay: '10m', jitter: 'none' } as const
    const dependent = durable.task('needs', policy, async (_input: null) => {
      throw new Error('not yet')
    })
    const member = durable.task('member', { attempts: 1 }, (_input: null) => Promise.reject(new Error('no')), { group })
    const waiting = dependent.run(null, { id: 'b' })
    await until(async () => (await ledger.get(needs))?.progress.retry.failures === 1)
    await rejection(member.run(null, { id: 'a' }))
    expect(await rejection(waiting)).toBeInstanceOf(RecordedFailureError)
    expect((await ledger.get(needs))?.status).toBe('cancelled')
  })
})

function freshOf({ progress }: TaskRecord): TaskRecord['progress'] {
  const retry = { ...progress.retry, launched: 0, failures: 0, totalDelayMs: 0, lastDelayMs: 0 }
  return { ...progress, retry, current: null }
}

describe('a group whose processes are lost', () => {
  const tally = (model: ProcessModel): Promise<unknown> => tallyOf(model.ledger, RUN)

  it('counts a task that is dead after three interruptions', async () => {
    const model = new ProcessModel()
    await makeTally(model.ledger, RUN, 1)
    for (let lives = 0; lives < 3; lives++) {
      const host = await model.open()
      const member = host.durable.task(
        'member',
        { attempts: 1 },
        (_input: null) => new Promise<void>(() => undefined),
        {
          group: tallyGroup(RUN),
        },
      )
      if (lives === 0) await member.start(null, { id: 'a' })
      await host.durable.resume()
      await until(async () => (await model.task('member', 'a')).status === 'running')
      expect(await tally(model)).toEqual({ ...EMPTY, fresh: 1 })
      await host.kill()
    }
    const last = await model.open()
    last.durable.task('member', { attempts: 1 }, async () => undefined, { group: tallyGroup(RUN) })
    await last.durable.resume()
    expect(await model.task('member', 'a')).toMatchObject({ status: 'failed', stopReason: 'attempts_exhausted' })
    expect(await tally(model)).toEqual({ ...EMPTY, failed: 1 })
    await last.durable.close()
  })

  it('counts a takeover that leaves the decision to a person, or to the program', async () => {
    const model = new ProcessModel()
    await makeTally(model.ledger, RUN, 2)
    const hold = (_input: null): Promise<string> => new Promise(() => undefined)
    const verify = (): { done: string } => ({ done: 'found' })
    const group = tallyGroup(RUN)
    const open = async () => {
      const host = await model.open()
      const member = host.durable.task('member', { attempts: 1 }, hold, { group, onInterrupt: 'fail' })
      const other = host.durable.task('other', { attempts: 1 }, hold, { group, onInterrupt: { verify } })
      return { host, member, other }
    }
    const { host: first, member, other } = await open()
    await member.start(null, { id: 'a' })
    await other.start(null, { id: 'b' })
    await until(async () => (await model.ledger.list({ statuses: ['running'] })).length === 2)
    await first.kill()
    const { host: second } = await open()
    await second.durable.resume()
    await until(async () => (await model.task('other', 'b')).status === 'succeeded')
    expect(await tally(model)).toEqual({ ...EMPTY, undecided: 1, succeeded: 1 })
    await second.durable.close()
  })
})
