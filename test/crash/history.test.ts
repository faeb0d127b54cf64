/** That the history checker would tell: records made by hand, whole, and then broken in one place each. */
import { describe, expect, it } from 'vitest'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { Policy, PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { faultsOf, scopeOfTasks } from './history.js'
import {
  alter,
  charged,
  chargedLate,
  eventOf,
  ledgerOf,
  letter,
  rowOf,
  whole,
  type SampleRecord,
} from './sample-record.js'

async function found(change: (written: SampleRecord) => void, make = whole): Promise<string> {
  const written = make()
  change(written)
  return (await faultsOf(await ledgerOf(written), scopeOfTasks('work'), written.starts, written.expected)).join('\n')
}

const policyOf = (input: PolicyInput): Policy =>
  normalizePolicy({ initialDelay: '100ms', jitter: false, ...input }).policy

describe('the history checker', () => {
  it('finds nothing wrong with a whole history', async () => {
    expect(await found(() => undefined)).toBe('')
  })

  it('reads the scope of its kind alone: a run of the same name has none of these tasks', async () => {
    const written = whole()
    const scope = { scopeKind: 'run', scope: 'work' } as const
    const faults = await faultsOf(await ledgerOf(written), scope, written.starts, { attempts: 3, finished: true })
    expect(faults).toEqual(['a: is lost'])
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
    expect(await faultsOf(await ledgerOf(written), scopeOfTasks('work'), written.starts, expected)).toEqual([])
  })

  it.each<[string, RegExp, (written: SampleRecord) => void]>([
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
    ['I6: an open dead letter of a success', /1 open dead letters/, ({ letters }) => letters.push(letter(1))],
    ['I6: a failure without a dead letter', /0 open dead letters/, ({ task }) => alter(task, { status: 'failed' })],
    [
      'I6: a failure whose dead letter is closed',
      /0 open dead letters/,
      ({ task, letters }) => {
        alter(task, { status: 'failed' })
        letters.push({ ...letter(1), closed: { atMs: 2, by: 'reset' } })
      },
    ],
    [
      'I6: an open one of an earlier generation',
      /an open dead letter of another generation/,
      ({ task, letters, events }) => {
        alter(task, { generation: 2 })
        events.push(eventOf('reset', 1100))
        letters.push(letter(1))
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
        alter(task.progress.retry, { expiresAtMs: 1100 })
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

describe('the check of lost processes', () => {
  it('finds nothing wrong with a loss that was charged, and with a late result', async () => {
    expect(await found(() => undefined, charged)).toBe('')
    expect(await found(() => undefined, chargedLate)).toBe('')
  })

  it('finds nothing wrong with a task that waits after a charge, and remembers the lost execution', async () => {
    const waits = (written: SampleRecord): void => {
      alter(written.task, { status: 'waiting', dueAtMs: 1110, fence: 1 })
      const lost = { attempt: 1, execution: 1, startedAtMs: 1000, delayBeforeMs: 0, owner: 'o' }
      alter(written.task.progress, { lost })
      alter(written.task.progress.retry, { launched: 1 })
      written.rows.pop()
      written.starts.pop()
      written.expected = { ...written.expected, finished: false, results: new Map() }
    }
    expect(await found(waits, charged)).toBe('')
  })

  it('finds nothing wrong with a stop in order, which costs nothing', async () => {
    const stops = (written: SampleRecord): void => {
      alter(written.expected, { onInterrupt: 'charge' })
      written.events = [eventOf('interrupted', 1150, { attempt: 2, orderly: true })]
    }
    expect(await found(stops)).toBe('')
  })

  it('finds nothing wrong with an attempt that counts as failed at its third loss', async () => {
    const lossesOf = (count: number) => (written: SampleRecord) => {
      const rows = Array.from({ length: count }, (_, index) => {
        return rowOf(1, index + 1, 'interrupted', [1000 + 2 * index, 1001 + 2 * index])
      })
      alter(rows.at(-1), { failure: { name: 'InterruptedError', message: 'lost' } })
      written.rows = [...rows, rowOf(2, 1, 'success', [1110, 1120])]
      written.events = []
      written.starts = [{ task: 'a', attempt: 2, execution: 1 }]
      alter(written.expected, { onInterrupt: 'rerun' })
    }
    expect(await found(lossesOf(3))).toBe('')
    expect(await found(lossesOf(2))).toMatch(/1.2 was charged at loss 2/)
    const uncharged = (written: SampleRecord): void => {
      lossesOf(3)(written)
      alter(written.rows[2], { failure: null })
    }
    expect(await found(uncharged)).toMatch(/1.3 was not charged at loss 3/)
  })

  it.each<[string, RegExp, () => SampleRecord, (written: SampleRecord) => void]>([
    [
      'a loss that cost nothing',
      /2.1 was lost, and not charged/,
      whole,
      ({ expected }) => alter(expected, { onInterrupt: 'charge' }),
    ],
    [
      'a charge for a stop in order',
      /1.1 was stopped in order, and charged/,
      charged,
      (written) => (written.events = [eventOf('interrupted', 1010, { attempt: 1, orderly: true })]),
    ],
    [
      'a late result of another process',
      /1.2 is the result of another process/,
      chargedLate,
      ({ rows }) => alter(rows[1], { owner: 'p' }),
    ],
    [
      'an attempt after a late result',
      /1.2 came late, and more followed/,
      chargedLate,
      ({ rows }) => rows.push(rowOf(2, 1, 'success', [1200, 1210])),
    ],
    [
      'a late result that did not end the task',
      /1.2 came late, and the task is cancelled/,
      chargedLate,
      ({ task }) => alter(task, { status: 'cancelled' }),
    ],
    ['a late result that nobody ran', /1.1 has an outcome, and never ran/, chargedLate, ({ starts }) => starts.pop()],
    [
      'an end that would still take a late result',
      /is succeeded, and would still take a late result/,
      charged,
      ({ task }) =>
        alter(task.progress, { lost: { attempt: 1, execution: 1, startedAtMs: 1000, delayBeforeMs: 0, owner: 'o' } }),
    ],
    [
      'a lost execution that was forgotten',
      /would not take the late result of attempt 1.1/,
      charged,
      (written) => {
        alter(written.task, { status: 'waiting', dueAtMs: 1110 })
        written.rows.pop()
      },
    ],
    [
      'I2: the same number again after a charge',
      /1.3 follows 1.1/,
      charged,
      ({ rows }) => rows.splice(1, 1, rowOf(1, 3, 'success', [1110, 1120])),
    ],
    [
      'I4: a retry that was not charged to the allotment',
      /was charged 0 retries, and 1 are recorded/,
      charged,
      ({ task }) => alter(task.progress, { allotted: 0 }),
    ],
    [
      'I4: a retry that was charged twice',
      /was charged 2/,
      charged,
      ({ task }) => alter(task.progress, { allotted: 2 }),
    ],
    [
      'a task that a gate ended though it holds the queue',
      /ended with breaker_open, and should have waited/,
      whole,
      ({ task, expected }) => {
        alter(task, { stopReason: 'breaker_open' })
        alter(expected, { isHeld: true })
      },
    ],
  ])('tells of %s', async (_what, said, make, change) => {
    expect(await found((written) => change(written), make)).toMatch(said)
  })
})
