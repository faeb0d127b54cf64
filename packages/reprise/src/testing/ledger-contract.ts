/**
 * What every ledger must do, as cases that any test runner can run: each opens a fresh ledger and rejects if it does not
 * do it. Imports the ledger's types and samples.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { AttemptRow, OwnerRecord, TaskRecord } from '../ledger/records.js'
import { ANALYTICS_CASES } from './analytics-contract.js'
import { CHECKPOINT_CASES } from './checkpoint-contract.js'
import { CLAIM_CASES } from './claim-contract.js'
import { type Check, isError, rejection, same } from './contract-checks.js'
import { FIGURES_CASES } from './figures-contract.js'
import { GROUP_CASES } from './group-contract.js'
import { LETTER_CASES } from './letter-contract.js'
import { PAGE_CASES } from './page-contract.js'
import { RETENTION_CASES } from './retention-contract.js'
import { RUN_CASES } from './run-contract.js'
import { newTask, sampleTask } from './sample-task.js'
import { SCOPE_CASES } from './scope-contract.js'
import { TALLY_CASES } from './tally-contract.js'

/** A ledger, and a way to set its time. */
export interface LedgerUnderTest {
  /** The ledger, empty. */
  readonly ledger: Ledger
  /** Sets the ledger's time. */
  readonly setTime: (ms: number) => void
}

/** One thing that every ledger must do. */
export interface ContractCase {
  /** What it must do, in a sentence. */
  readonly name: string
  /** Opens a fresh ledger, and rejects if it does not do it. */
  readonly run: () => Promise<void>
}

/**
 * What every ledger must do, as cases for any test runner. `open` makes an empty ledger at time 0.
 * @example
 * const open = async () => {
 *   const time = { wallMs: () => nowMs, monotonicMs: () => nowMs, schedule() {}, cancel() {} }
 *   let nowMs = 0
 *   return { ledger: new MemoryLedger({ clock: time }), setTime: (ms: number) => void (nowMs = ms) }
 * }
 * for (const { name, run: check } of ledgerContract(open)) await check().catch((error) => console.error(name, error))
 */
export function ledgerContract(open: () => Promise<LedgerUnderTest>): readonly ContractCase[] {
  const cases = {
    ...CASES,
    ...ANALYTICS_CASES,
    ...FIGURES_CASES,
    ...CHECKPOINT_CASES,
    ...LETTER_CASES,
    ...CLAIM_CASES,
    ...GROUP_CASES,
    ...PAGE_CASES,
    ...RETENTION_CASES,
    ...RUN_CASES,
    ...SCOPE_CASES,
    ...TALLY_CASES,
  }
  return Object.entries(cases).map(([name, check]) => ({
    name,
    run: async () => {
      const { ledger, setTime } = await open()
      try {
        await check(ledger, setTime)
      } finally {
        await ledger.close()
      }
    },
  }))
}

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const
const MAIL = [{ queue: 'mail', policyHash: 'p1' }]

const ATTEMPT: AttemptRow = {
  ...KEY,
  generation: 1,
  attempt: 1,
  execution: 1,
  startedAtMs: 10.25,
  endedAtMs: 20.5,
  outcome: 'failure',
  delayBeforeMs: 0,
  failure: { name: 'Error', message: 'no "luck" \u0000 ✓', code: 'E1', exitCode: 3 },
  signature: 'Error: no "…" ✓',
  owner: 'me',
}

const OWNER: OwnerRecord = {
  id: 'me',
  host: 'h',
  pid: 1,
  processStart: '5',
  bootId: 'b',
  startedAtMs: 1,
  leaseUntilMs: 2,
}

const CASES: Readonly<Record<string, Check>> = {
  'keeps its change mark while nothing is written': async (ledger) => {
    await ledger.create([newTask({ dueAtMs: 1e12 })])
    const mark = await ledger.changeMark()
    await ledger.get(KEY)
    await ledger.list({ limit: 10 })
    await ledger.transact({ tasks: [KEY] }, () => ({ result: 'only a look' }))
    await ledger.claim({ queues: MAIL, limit: 1 }, () => ({ result: 'none is due' }))
    same(await ledger.changeMark(), mark)
  },

  'gives back what was created, to the last field': async (ledger) => {
    const [creation] = await ledger.create([newTask()])
    same(creation?.type, 'created')
    same(await ledger.get(KEY), sampleTask())
    same(await ledger.policy('p1'), { hash: 'p1', policy: { attempts: 3 } })
    same(await ledger.get({ scopeKind: 'task', scope: 'mail', id: 'b' }), undefined)
    same(await ledger.policy('p2'), undefined)
  },

  'creates once: the same payload is the same task, another is a conflict': async (ledger) => {
    await ledger.create([newTask()])
    const again = await ledger.create([newTask({ correlationId: 'c2' }), newTask({}, 'other')])
    same(
      again.map(({ type, task }) => [type, task.correlationId]),
      [
        ['existing', 'c1'],
        ['conflict', 'c1'],
      ],
    )
    const twice = await ledger.create([newTask({ id: 'b' }), newTask({ id: 'b' })])
    same(
      twice.map(({ type }) => type),
      ['created', 'existing'],
    )
  },

  'creates once when asked at once': async (ledger) => {
    const made = await Promise.all(Array.from({ length: 20 }, () => ledger.create([newTask()])))
    same(made.flat().filter(({ type }) => type === 'created').length, 1)
  },

  'commits all that was decided': async (ledger) => {
    await ledger.create([newTask()])
    const next = sampleTask({ status: 'failed', dueAtMs: null, stopReason: 'timeout', fence: 3, updatedAtMs: 9.5 })
    const letter = { ...KEY, generation: 1, atMs: 9.5, signature: 's', stopReason: 'timeout', failure: null } as const
    const event = { type: 'cancelled', ...KEY, atMs: 9.5, correlationId: 'c1', detail: { why: ['x'] } } as const
    const gate = { key: 'budget:api', kind: 'budget', state: { tokens: 1.5 } } as const
    const changed = { ...gate, state: 2, settings: { type: 'token_bucket' }, manualRevision: 1 }
    const result = await ledger.transact({ tasks: [KEY], gates: ['budget:api'] }, (view) => {
      same(view.task(KEY), sampleTask())
      same(view.gate('budget:api'), undefined)
      return { tasks: [next], attempts: [ATTEMPT], gates: [gate], dead: [letter], events: [event], result: 'done' }
    })
    same(result, 'done')
    same(await ledger.get(KEY), next)
    same(await ledger.attempts(KEY), [ATTEMPT])
    same(await ledger.attemptCounts([{ scopeKind: 'task', scope: 'mail', id: 'nobody' }, KEY]), [
      { last: 0, ended: 0 },
      { last: 1, ended: 1 },
    ])
    same(await ledger.gates(), [gate])
    same(await ledger.deadLetters(), [letter])
    same(await ledger.deadLetters({ scopeKind: 'task', scope: 'mail' }), [letter])
    same(await ledger.deadLetters({ scopeKind: 'task', scope: 'other' }), [])
    const events = await ledger.events(0, 10)
    same(
      events.map(({ seq: _seq, ...rest }) => rest),
      [event],
    )
    same(await ledger.events(events[0]?.seq ?? 0, 10), [])
    await ledger.transact({ tasks: [], gates: ['budget:api'] }, (view) => {
      same(view.gate('budget:api'), gate)
      return { gates: [changed], result: 0 }
    })
    same(await ledger.gates(), [changed])
  },

  'writes nothing when the deciding function throws, and goes on': async (ledger) => {
    await ledger.create([newTask()])
    const boom = new Error('boom')
    const failed = ledger.transact({ tasks: [KEY] }, () => {
      throw boom
    })
    const fine = ledger.transact({ tasks: [KEY] }, (view) => {
      const task = view.task(KEY) as TaskRecord
      return { tasks: [{ ...task, fence: task.fence + 1 }], result: 1 }
    })
    same(await rejection(failed), boom)
    same(await fine, 1)
    same((await ledger.get(KEY))?.fence, 1)
  },

  'writes nothing of a claim whose deciding function throws on the way': async (ledger, setTime) => {
    await ledger.create([newTask({ id: 'first', dueAtMs: 1 }), newTask({ id: 'second', dueAtMs: 2 })])
    setTime(10)
    const boom = new Error('boom')
    const gate = { key: 'g', kind: 'budget', state: 1 } as const
    const claim = ledger.claim({ queues: MAIL, limit: 9, gates: ['g'] }, (task) => {
      if (task.id === 'second') throw boom
      const row = { ...ATTEMPT, id: task.id }
      const event = {
        type: 'cancelled',
        scopeKind: 'task',
        scope: task.scope,
        id: task.id,
        atMs: 10,
        correlationId: 'c1',
        detail: 1,
      } as const
      return { tasks: [{ ...task, fence: 9 }], attempts: [row], gates: [gate], events: [event], result: task.id }
    })
    const fine = ledger.create([newTask({ id: 'third' })])
    same(await rejection(claim), boom)
    same((await fine)[0]?.type, 'created')
    same((await ledger.get({ scopeKind: 'task', scope: 'mail', id: 'first' }))?.fence, 0)
    same(await ledger.attempts({ scopeKind: 'task', scope: 'mail', id: 'first' }), [])
    same(await ledger.gates(), [])
    same(await ledger.events(0, 9), [])
  },

  'creates nothing when one of the tasks cannot be kept': async (ledger) => {
    const endless: Record<string, unknown> = {}
    endless['self'] = endless
    isError(await rejection(ledger.create([newTask(), newTask({ id: 'b', input: endless as never })])), 'circular')
    same(await ledger.list({}), [])
  },

  'shows each transaction what those before it wrote': async (ledger) => {
    await ledger.create([newTask()])
    const seen = await Promise.all(
      Array.from({ length: 50 }, () =>
        ledger.transact({ tasks: [KEY] }, (view) => {
          const task = view.task(KEY) as TaskRecord
          return { tasks: [{ ...task, fence: task.fence + 1 }], result: task.fence }
        }),
      ),
    )
    same(
      seen.toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => index),
    )
    same((await ledger.get(KEY))?.fence, 50)
  },

  'refuses to show or change what was not named': async (ledger) => {
    await ledger.create([newTask(), newTask({ id: 'b' })])
    const reading = ledger.transact({ tasks: [KEY] }, (view) => ({
      result: view.task({ scopeKind: 'task', scope: 'mail', id: 'b' }),
    }))
    isError(await rejection(reading), 'was not named')
    const gate = ledger.transact({ tasks: [KEY] }, (view) => ({ result: view.gate('x') }))
    isError(await rejection(gate), 'was not named')
    const missing = ledger.transact({ tasks: [{ scopeKind: 'task', scope: 'mail', id: 'z' }] }, (view) => ({
      tasks: [sampleTask({ id: 'z' })],
      result: view.task({ scopeKind: 'task', scope: 'mail', id: 'z' }),
    }))
    isError(await rejection(missing), 'does not exist')
  },

  'hands out what is due, the earliest first, and no more than asked for': async (ledger, setTime) => {
    await ledger.create([
      newTask({ id: 'late', dueAtMs: 5000 }),
      newTask({ id: 'second', dueAtMs: 20 }),
      newTask({ id: 'first', dueAtMs: 10.5 }),
      newTask({ id: 'other', queue: 'print', dueAtMs: 1 }),
      newTask({ id: 'owned', status: 'running', owner: 'x', dueAtMs: null }),
    ])
    same(await ledger.nextDueAtMs(MAIL), 10.5)
    same(await ledger.nextDueAtMs([...MAIL, { queue: 'print', policyHash: 'p1' }]), 1)
    same(await ledger.nextDueAtMs([{ queue: 'nobody', policyHash: 'p1' }]), null)
    same(await ledger.nextDueAtMs([{ queue: 'mail', policyHash: 'another' }]), null)
    const claim = (limit: number): Promise<readonly string[]> =>
      ledger.claim({ queues: MAIL, limit }, (task, view) => {
        same(view.task(task), task)
        return {
          tasks: [{ ...task, status: 'running', owner: 'me', dueAtMs: null, fence: task.fence + 1 }],
          result: task.id,
        }
      })
    setTime(10)
    same(await claim(9), [])
    setTime(100)
    same(await claim(1), ['first'])
    same(await claim(9), ['second'])
    same(await claim(9), [])
    same(await ledger.nextDueAtMs(MAIL), 5000)
    const others = [{ queue: 'mail', policyHash: 'another' }]
    setTime(9000)
    same(await ledger.claim({ queues: others, limit: 9 }, () => ({ result: 1 })), [])
  },

  'hands every due task to one of many who ask at once': async (ledger, setTime) => {
    await ledger.create(Array.from({ length: 40 }, (_, index) => newTask({ id: `t${index}`, dueAtMs: index })))
    setTime(1000)
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, owner) =>
        ledger.claim({ queues: MAIL, limit: 7 }, (task) => ({
          tasks: [{ ...task, status: 'running', owner: `o${owner}`, dueAtMs: null }],
          result: task.id,
        })),
      ),
    )
    same(claims.flat().length, 40)
    same(new Set(claims.flat()).size, 40)
  },

  'keeps its own time': async (ledger, setTime) => {
    setTime(1234.5)
    same(await ledger.now(), 1234.5)
    await ledger.create([newTask()])
    same(await ledger.transact({ tasks: [] }, (view) => ({ result: view.now })), 1234.5)
  },

  'keeps owners until they are removed': async (ledger) => {
    await ledger.heartbeat(OWNER)
    same(await ledger.taskOwners(), [])
    await ledger.heartbeat({ ...OWNER, leaseUntilMs: 99 })
    await ledger.heartbeat({ ...OWNER, id: 'you' })
    same(
      (await ledger.owners()).map(({ id, leaseUntilMs }) => [id, leaseUntilMs]),
      [
        ['me', 99],
        ['you', 2],
      ],
    )
    await ledger.removeOwner('me')
    await ledger.removeOwner('nobody')
    same(
      (await ledger.owners()).map(({ id }) => id),
      ['you'],
    )
  },

  'lists by run, queue, status and owner, in pages': async (ledger) => {
    await ledger.create([
      newTask({ id: 'a' }),
      newTask({ id: 'b', status: 'running', owner: 'x', dueAtMs: null }),
      newTask({ id: 'c', queue: 'print' }),
      newTask({ scopeKind: 'task', scope: 'other', id: 'a' }),
    ])
    const ids = async (filter: Parameters<Ledger['list']>[0]): Promise<string[]> =>
      (await ledger.list(filter)).map(({ scope, id }) => `${scope}/${id}`)
    same(await ids({}), ['mail/a', 'mail/b', 'mail/c', 'other/a'])
    same(await ids({ scopeKind: 'task', scope: 'mail', statuses: ['waiting'] }), ['mail/a', 'mail/c'])
    same(await ids({ queue: 'print' }), ['mail/c'])
    same(await ids({ owner: 'x' }), ['mail/b'])
    same(await ids({ limit: 2 }), ['mail/a', 'mail/b'])
    same(await ids({ limit: 2, after: { scopeKind: 'task', scope: 'mail', id: 'b' } }), ['mail/c', 'other/a'])
  },
}
