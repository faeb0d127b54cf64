/** That the history checker would tell: records made by hand, whole, and then broken in one place each. */
import { describe, expect, it } from 'vitest'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { Policy, PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { initialState, snapshot } from '../../packages/reprise/src/core/state.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  GateRecord,
  LedgerEvent,
  TaskRecord,
} from '../../packages/reprise/src/ledger/records.js'
import { gateFaults, type GateRule, type OpenSpan } from './gate-history.js'
import { type Expectation, faultsOf, type Start } from './history.js'
import { faultsBetween, flightFaults, openSpans, type Snapshot, snapshotOf } from './snapshots.js'

interface Written {
  task: TaskRecord
  rows: AttemptRow[]
  events: LedgerEvent[]
  letters: DeadLetter[]
  starts: Start[]
  gates: GateRecord[]
  expected: Expectation
}

const KEY = { run: 'work', id: 'a' }
const FAILURE = { name: 'Error', message: 'no' }

function taskOf(): TaskRecord {
  const retry = { ...initialState(null), launched: 2, failures: 1, totalDelayMs: 100, lastDelayMs: 100 }
  return {
    ...KEY,
    queue: 'work',
    generation: 1,
    status: 'succeeded',
    dueAtMs: null,
    owner: null,
    fence: 3,
    progress: { retry: snapshot(retry, 7), current: null, interruptions: 0, lastFailure: FAILURE },
    policyHash: 'p',
    input: 1,
    result: 'done',
    stopReason: null,
    correlationId: 'c',
    createdAtMs: 1000,
    updatedAtMs: 1210,
  }
}

function rowOf(number: number, execution: number, outcome: AttemptRow['outcome'], times: [number, number]): AttemptRow {
  const [startedAtMs, endedAtMs] = times
  const failure = outcome === 'failure' ? FAILURE : null
  const delayBeforeMs = number === 1 ? 0 : 100
  return {
    ...KEY,
    signature: null,
    generation: 1,
    number,
    execution,
    startedAtMs,
    endedAtMs,
    outcome,
    delayBeforeMs,
    failure,
    owner: 'o',
  }
}

const eventOf = (type: LedgerEvent['type'], atMs: number, detail: LedgerEvent['detail'] = {}): LedgerEvent => ({
  ...KEY,
  type,
  atMs,
  correlationId: 'c',
  detail,
})

/** Fails, is interrupted in its second attempt, and succeeds. */
function whole(): Written {
  return {
    task: taskOf(),
    rows: [
      rowOf(1, 1, 'failure', [1000, 1010]),
      rowOf(2, 1, 'interrupted', [1110, 1150]),
      rowOf(2, 2, 'success', [1200, 1210]),
    ],
    events: [eventOf('interrupted', 1150)],
    letters: [],
    starts: [
      { task: 'a', attempt: 1, execution: 1, generation: 1, fence: 1, atMs: 1001 },
      { task: 'a', attempt: 2, execution: 1, generation: 1, fence: 2, atMs: 1111 },
      { task: 'a', attempt: 2, execution: 2, generation: 1, fence: 3, atMs: 1201 },
    ],
    gates: [],
    expected: { attempts: 3, finished: true, created: ['a'], results: new Map([['a', 'done']]) },
  }
}

async function ledgerOf({ task, rows, events, letters, gates }: Written): Promise<MemoryLedger> {
  const ledger = new MemoryLedger(() => 2000)
  await ledger.create([{ task, policy: { hash: 'p', policy: null }, payloadHash: 'h' }])
  await ledger.transact({ tasks: [task] }, () => ({ attempts: rows, events, dead: letters, gates, result: null }))
  return ledger
}

async function found(change: (written: Written) => void): Promise<string> {
  const written = whole()
  change(written)
  return (await faultsOf(await ledgerOf(written), 'work', written.starts, written.expected)).join('\n')
}

function letter(generation: number): DeadLetter {
  return { ...KEY, generation, atMs: 1, signature: 's', stopReason: 'attempts_exhausted', failure: null }
}

const policyOf = (input: PolicyInput): Policy =>
  normalizePolicy({ initialDelay: '100ms', jitter: false, ...input }).policy

/** Assigns through the readonly of the records. */
function alter<T extends object>(target: T | undefined, values: Partial<T>): void {
  Object.assign(target as T, values)
}

describe('the history checker', () => {
  it('finds nothing wrong with a whole history', async () => {
    expect(await found(() => undefined)).toBe('')
  })

  it('finds nothing wrong with one that a person decided, hastened and reset', async () => {
    const written = whole()
    alter(written.task, { generation: 2, result: null })
    alter(written.task.progress.retry, { launched: 1, failures: 0, totalDelayMs: 0, lastDelayMs: 0 })
    written.rows = [
      ...[rowOf(1, 1, 'failure', [1000, 1010]), rowOf(2, 1, 'aborted', [1050, 1060])],
      { ...rowOf(1, 1, 'interrupted', [1200, 1210]), generation: 2 },
    ]
    written.events = [eventOf('retry_now', 1049), eventOf('reset', 1100), eventOf('decided', 1300, { answer: 'done' })]
    written.starts = [
      { task: 'a', attempt: 1, execution: 1 },
      { task: 'a', attempt: 1, execution: 1, generation: 2 },
    ]
    const expected = { attempts: 3, finished: true, runsOnce: true }
    expect(await faultsOf(await ledgerOf(written), 'work', written.starts, expected)).toEqual([])
  })

  it.each<[string, RegExp, (written: Written) => void]>([
    [
      'I1: a start without intent',
      /does not know/,
      ({ starts }) => starts.push({ task: 'a', attempt: 3, execution: 1 }),
    ],
    ['I1: a start before its intent', /before its intent/, ({ starts }) => alter(starts[1], { atMs: 1000 })],
    ['I1: one intent, two starts', /ran 2 times/, ({ starts }) => starts.push(...starts.slice(0, 1))],
    ['I1: an outcome of nothing', /never ran/, ({ starts }) => starts.pop()],
    ['I2: a gap', /3.1 follows 1.1/, ({ rows }) => rows.splice(1, 2, rowOf(3, 1, 'success', [1200, 1210]))],
    [
      'I2: a second start without interruption',
      /2.2 follows 2.1/,
      ({ rows }) => alter(rows[1], { outcome: 'failure' }),
    ],
    ['I2: too many', /2 attempts of 1/, (written) => (written.expected = { attempts: 1, finished: true })],
    ['I2: a generation that is not there', /of generation 2/, ({ rows }) => alter(rows[2], { generation: 2 })],
    ['I3: an end with an owner', /has an owner/, ({ task }) => alter(task, { owner: 'o' })],
    ['I3: no end', /should have ended/, ({ task }) => alter(task, { status: 'waiting', dueAtMs: 1 })],
    [
      'I3: neither owner nor due time',
      /both or neither/,
      (written) => {
        alter(written.task, { status: 'waiting' })
        written.expected = { attempts: 3, finished: false }
      },
    ],
    ['I3: a lost task', /b: is lost/, (written) => alter(written.expected, { created: ['a', 'b'] })],
    [
      'I3: a lost result',
      /does not have/,
      (written) => alter(written.expected, { results: new Map([['a', 'other']]) }),
    ],
    ['I4: a counter that was reset', /counts 0 attempts/, ({ task }) => alter(task.progress.retry, { launched: 0 })],
    ['I4: failures', /counts 0 failures of 2/, ({ task }) => alter(task.progress.retry, { failures: 0 })],
    ['I4: a delay sum that was reset', /ms of delay/, ({ task }) => alter(task.progress.retry, { totalDelayMs: 0 })],
    ['I5: success after success', /without one success/, ({ rows }) => alter(rows[0], { outcome: 'success' })],
    ['I5: a success that was taken back', /succeeded, and is/, ({ task }) => alter(task, { status: 'cancelled' })],
    ['I5: a generation without reset', /after 0 resets/, ({ task }) => alter(task, { generation: 2 })],
    [
      'I5: exhausted too early',
      /too early/,
      ({ task, rows, letters }) => {
        alter(task, { status: 'failed', stopReason: 'attempts_exhausted' })
        alter(rows[2], { outcome: 'failure' })
        letters.push(letter(1))
      },
    ],
    ['I6: a dead letter of a success', /1 dead letters/, ({ letters }) => letters.push(letter(1))],
    ['I6: a failure without a dead letter', /0 dead letters/, ({ task }) => alter(task, { status: 'failed' })],
    [
      'I6: two of one generation',
      /2 dead letters of generation 1/,
      ({ task, letters, events }) => {
        alter(task, { generation: 2 })
        events.push(eventOf('reset', 1100))
        letters.push(letter(1), letter(1))
      },
    ],
    ['I7: one fence for two starts', /behind fence 2 after 2/, ({ starts }) => alter(starts[2], { fence: 2 })],
    ['I7: a fence that fell', /fell from 3 to 1/, ({ task }) => alter(task, { fence: 1 })],
    ['I8: an early attempt', /20.0 ms before its time/, ({ rows }) => alter(rows[1], { startedAtMs: 1090 })],
    [
      'a delay that was drawn again',
      /100 ms, and 80 were drawn/,
      (written) => alter(written.expected, { policy: policyOf({ initialDelay: '80ms' }) }),
    ],
    [
      'more delay than the time budget',
      /100 ms of 90/,
      (written) => alter(written.expected, { policy: policyOf({ retryBudget: '90ms' }) }),
    ],
    [
      'a start past the deadline',
      /2.2 started past the deadline/,
      ({ task, expected }) => {
        alter(expected, { policy: policyOf({}) })
        alter(task.progress.retry, { deadlineAtMs: 1150 })
      },
    ],
    [
      'a start past its expiry once it was resumed',
      /2.2 started past its expiry/,
      ({ task, events, expected }) => {
        alter(expected, { policy: policyOf({}) })
        alter(task.progress.retry, { expiresAtMs: 1150 })
        events.push(eventOf('resumed', 1150))
      },
    ],
    [
      'an outcome that is not what happened',
      /2.2 did not end in success/,
      ({ expected }) => alter(expected, { outcomeOf: () => 'failure' }),
    ],
    ['a rerun that nobody allowed', /ran again 1/, (written) => alter(written.expected, { runsOnce: true })],
  ])('tells of %s', async (_what, said, change) => {
    expect(await found((written) => change(written))).toMatch(said)
  })
})

describe('the check of gates', () => {
  const count: GateRule = { type: 'count', name: 'count', runs: ['work'], total: 2 }
  const bucket: GateRule = { type: 'bucket', name: 'bucket', runs: ['work'], capacity: 2, refillPerSecond: 10 }
  const span: OpenSpan = { run: 'work', fromMs: 1020, toMs: 1100 }
  const used = (value: number): GateRecord => ({
    key: 'budget:count',
    kind: 'budget',
    state: { used: value, keys: [] },
  })

  async function gatesFound(
    rule: GateRule,
    change: (written: Written) => void,
    spans: OpenSpan[] = [],
  ): Promise<string> {
    const written = whole()
    written.gates = [used(1)]
    change(written)
    return (await gateFaults(await ledgerOf(written), [rule], spans)).join('\n')
  }

  it('finds nothing wrong with what was charged once', async () => {
    expect(await gatesFound(count, () => undefined, [span])).toBe('')
    expect(await gatesFound(bucket, () => undefined)).toBe('')
  })

  it.each<[string, RegExp, GateRule, (written: Written) => void]>([
    [
      'I4: a budget that was reset',
      /1 retries are recorded, and 0 charged/,
      count,
      ({ gates }) => (gates[0] = used(0)),
    ],
    ['I4: a retry charged twice', /and 2 charged/, count, ({ gates }) => (gates[0] = used(2))],
    ['I4: more than there was', /gave 1 of 0/, { ...count, total: 0 }, () => undefined],
    [
      'I4: a bucket that gave more than flowed in',
      /more than it had/,
      { ...bucket, capacity: 1, refillPerSecond: 1 },
      () => undefined,
    ],
  ])('tells of %s', async (_what, said, rule, change) => {
    expect(await gatesFound(rule, change)).toMatch(said)
  })

  it('tells of an attempt while the breaker is open (I9)', async () => {
    expect(await gatesFound(count, () => undefined, [{ ...span, toMs: 1150 }])).toMatch(/before the breaker/)
  })
})

describe('the comparison of two looks', () => {
  const gate = (state: object): GateRecord => ({ key: 'breaker:work', kind: 'breaker', state: state as never })
  const open = gate({ phase: 'open', failures: 3, openUntilMs: 3000 })

  async function compared(before: (written: Written) => void, after: (written: Written) => void): Promise<string> {
    const looks: Snapshot[] = []
    for (const change of [before, after]) {
      const written = whole()
      change(written)
      looks.push(await snapshotOf(await ledgerOf(written)))
    }
    const [first, second] = looks as [Snapshot, Snapshot]
    return faultsBetween(first, second).join('\n')
  }

  const asItWas = (): void => undefined
  const alive = ({ task }: Written): void => alter(task, { status: 'waiting', dueAtMs: 1 })

  it('finds nothing wrong where nothing has changed', async () => {
    expect(await compared(asItWas, asItWas)).toBe('')
  })

  it.each<[string, RegExp, (written: Written) => void, (written: Written) => void]>([
    ['I3: a lost task', /a: is lost/, asItWas, ({ task }) => alter(task, { id: 'b' })],
    ['I2: lost attempts', /attempts are lost/, alive, (written) => (alive(written), written.rows.pop())],
    [
      'I4: counts',
      /failures fall/,
      alive,
      (written) => (alive(written), alter(written.task.progress.retry, { failures: 0 })),
    ],
    ['I5: an end that changes', /was succeeded, and changed/, asItWas, alive],
    ['I5: a success that is reset', /and was reset/, asItWas, ({ task }) => alter(task, { generation: 2 })],
    ['I6: a lost dead letter', /letters are lost/, ({ letters }) => letters.push(letter(1)), asItWas],
    ['I7: a fence', /fence falls/, alive, (written) => (alive(written), alter(written.task, { fence: 1 }))],
    [
      'I9: a breaker',
      /closes before/,
      ({ gates }) => gates.push(open),
      ({ gates }) => gates.push(gate({ phase: 'closed' })),
    ],
    ['I9: a lost breaker', /is lost/, ({ gates }) => gates.push(open), asItWas],
    [
      'I4: a count',
      /use falls/,
      ({ gates }) => gates.push(gate({ used: 2, keys: [] })),
      ({ gates }) => gates.push(gate({ used: 1, keys: [] })),
    ],
  ])('tells of %s', async (_what, said, before, after) => {
    expect(
      await compared(
        (written) => before(written),
        (written) => after(written),
      ),
    ).toMatch(said)
  })

  it('tells of a budget that forgot an attempt in flight', async () => {
    const written = whole()
    alive(written)
    alter(written.task.progress, { current: { number: 2, startedAtMs: 1200, execution: 2 } })
    const look = await snapshotOf(await ledgerOf(written))
    expect(flightFaults(look, 'budget:line', 'work')).toEqual([
      'budget:line: holds 0 slots, and 1 attempts are in flight',
    ])
    expect(flightFaults(look, 'budget:line', 'other')).toEqual([])
  })

  it('knows for how long a breaker stays open', async () => {
    const written = { ...whole(), gates: [open] }
    const spans = openSpans(await snapshotOf(await ledgerOf(written)))
    expect(spans).toEqual([{ run: 'work', fromMs: 2000, toMs: 3000 }])
  })
})
