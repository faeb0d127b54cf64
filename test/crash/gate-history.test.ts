/** That the checks of gates and of two looks would tell: records made by hand, and then broken in one place each. */
import { describe, expect, it } from 'vitest'
import type { GateRecord, LedgerEvent, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { gateFaults, type GateRule, type OpenSpan, slotFaults } from './gate-history.js'
import { faultsBetween, flightFaults, openSpans, type Snapshot, snapshotOf } from './snapshots.js'
import { alter, eventOf, ledgerOf, letter, whole, type SampleRecord } from './sample-record.js'

describe('the check of gates', () => {
  const count: GateRule = { type: 'count', name: 'count', runs: ['work'], total: 2 }
  const bucket: GateRule = { type: 'bucket', name: 'bucket', runs: ['work'], capacity: 2, refillPerSecond: 10 }
  const span: OpenSpan = { run: 'work', fromMs: 1020, toMs: 1100 }
  const used = (value: number, granted = 0): GateRecord => ({
    key: 'budget:count',
    kind: 'budget',
    state: { used: value, keys: [], granted },
  })
  const byHand = (gate: string, action: string, atMs: number): LedgerEvent => ({
    ...eventOf('gate_changed', atMs, { gate, action, amount: 1 }),
    ...{ scopeKind: '' as const, scope: '', id: '' },
  })

  async function gatesFound(
    rule: GateRule,
    change: (written: SampleRecord) => void,
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

  it('compares an allotment with what the tasks were charged', async () => {
    const allotment: GateRule = { ...count, type: 'allotment' }
    const charge = (allotted: number) => (written: SampleRecord) => alter(written.task.progress, { allotted })
    expect(await gatesFound(allotment, charge(1))).toBe('')
    expect(await gatesFound(allotment, charge(2))).toMatch(/2 retries are recorded, and 1 charged/)
    expect(await gatesFound({ ...allotment, total: 0 }, charge(1))).toMatch(/gave 1 of 0/)
  })

  it.each<[string, RegExp, GateRule, (written: SampleRecord) => void]>([
    [
      'I4: a budget that was reset',
      /1 retries are recorded, and 0 charged/,
      count,
      ({ gates }) => (gates[0] = used(0)),
    ],
    ['I4: a retry charged twice', /and 2 charged/, count, ({ gates }) => (gates[0] = used(2))],
    ['I4: more than there was', /gave 1 of 0/, { ...count, total: 0 }, () => undefined],
    ['I4: a grant that nobody gave', /was granted 0, and has 1/, count, ({ gates }) => (gates[0] = used(1, 1))],
    [
      'I4: a grant that was lost',
      /was granted 1, and has 0/,
      count,
      ({ events }) => events.push(byHand('budget:count', 'grant', 1)),
    ],
    [
      'I4: a bucket that gave more than flowed in',
      /more than it had/,
      { ...bucket, capacity: 1, refillPerSecond: 1 },
      () => undefined,
    ],
  ])('tells of %s', async (_what, said, rule, change) => {
    expect(await gatesFound(rule, change)).toMatch(said)
  })

  it('knows what a person granted, and when', async () => {
    const granted = ({ gates, events }: SampleRecord): void => {
      gates[0] = used(1, 1)
      events.push(byHand('budget:count', 'grant', 1050))
    }
    expect(await gatesFound({ ...count, total: 0 }, granted)).toBe('')
    const small = { ...bucket, capacity: 1, refillPerSecond: 1 } as const
    const filled = (atMs: number) => (written: SampleRecord) =>
      written.events.push(byHand('budget:bucket', 'grant', atMs))
    expect(await gatesFound(small, filled(1050))).toBe('')
    expect(await gatesFound(small, filled(1190))).toMatch(/more than it had/)
  })

  it('knows that a person may end the time of an open breaker', async () => {
    const spans = [{ ...span, toMs: 1150 }]
    const changed = (atMs: number) => (written: SampleRecord) =>
      written.events.push(byHand('breaker:work', 'reset', atMs))
    expect(await gatesFound(count, changed(1100), spans)).toBe('')
    expect(await gatesFound(count, changed(1000), spans)).toMatch(/before the breaker/)
  })

  it('tells of an attempt while the breaker is open (I9)', async () => {
    expect(await gatesFound(count, () => undefined, [{ ...span, toMs: 1150 }])).toMatch(/before the breaker/)
  })
})

describe('the check of slots', () => {
  const probing = { attempt: 2, startedAtMs: 1, execution: 1, probe: { breaker: 'work', epoch: 3 } }
  const halfOpen = (probes: number, epoch = 3): GateRecord => ({
    key: 'breaker:work',
    kind: 'breaker',
    state: { phase: 'half_open', failures: 0, openUntilMs: 1, epoch, probes, successes: 0 },
    settings: { halfOpenMaxCalls: 1 },
  })
  const tasks = (count: number): TaskRecord[] =>
    Array.from({ length: count }, () => {
      const { task } = whole()
      alter(task.progress, { current: probing })
      return task
    })

  it('finds nothing wrong with a slot for every probe', () => {
    expect(slotFaults([halfOpen(1)], tasks(1))).toEqual([])
    expect(slotFaults([{ ...halfOpen(1), state: { phase: 'closed', probes: 0 } }], tasks(1))).toEqual([])
  })

  it('tells of one that nobody holds, of one that was given twice, and of too many', () => {
    expect(slotFaults([halfOpen(1)], [])).toEqual(['breaker:work: 1 slots are taken, and 0 attempts hold one'])
    expect(slotFaults([halfOpen(1, 4)], tasks(1)).join()).toMatch(/0 attempts hold one/)
    expect(slotFaults([halfOpen(1)], tasks(2)).join()).toMatch(/2 attempts hold one/)
    expect(slotFaults([halfOpen(2)], tasks(2)).join()).toMatch(/2 of 1 slots are taken/)
  })
})

describe('the comparison of two looks', () => {
  const gate = (state: object): GateRecord => ({ key: 'breaker:work', kind: 'breaker', state: state as never })
  const open = gate({ phase: 'open', failures: 3, openUntilMs: 3000 })

  async function compared(
    before: (written: SampleRecord) => void,
    after: (written: SampleRecord) => void,
  ): Promise<string> {
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
  const alive = ({ task }: SampleRecord): void => alter(task, { status: 'waiting', dueAtMs: 1 })

  it('finds nothing wrong where nothing has changed', async () => {
    expect(await compared(asItWas, asItWas)).toBe('')
  })

  it.each<[string, RegExp, (written: SampleRecord) => void, (written: SampleRecord) => void]>([
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
    [
      'I9: what was granted',
      /granted falls/,
      ({ gates }) => gates.push(gate({ used: 2, keys: [], granted: 3 })),
      ({ gates }) => gates.push(gate({ used: 2, keys: [] })),
    ],
    [
      'I9: a manual revision',
      /manual revision falls/,
      ({ gates }) => gates.push({ ...open, manualRevision: 1 }),
      ({ gates }) => gates.push(open),
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

  it('finds nothing wrong with a breaker that a person reset', async () => {
    const closed = { ...gate({ phase: 'closed' }), manualRevision: 1 }
    const found = await compared(
      ({ gates }) => gates.push(open),
      ({ gates }) => gates.push(closed),
    )
    expect(found).toBe('')
  })

  it('tells of a budget that forgot an attempt in flight', async () => {
    const written = whole()
    alive(written)
    alter(written.task.progress, { current: { attempt: 2, startedAtMs: 1200, execution: 2 } })
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
