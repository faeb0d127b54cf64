/** Where the next claim begins to look: after the last one, and from the beginning at least once a second. */
import { expect, it } from 'vitest'
import type { TaskRecord } from '../ledger/records.js'
import { DueFloors, NO_FLOOR } from './due-floor.js'
import type { CachedRow } from './row-cache.js'

const REF = { queue: 'mail', policyHash: 'p' }

function rowOf(dueAtMs: number, failures = 0): CachedRow {
  const progress = { retry: { failures }, current: null }
  const task = { ...REF, status: 'waiting', dueAtMs, progress } as unknown as TaskRecord
  return { pk: dueAtMs, version: 1, task, input: 'null', payloadHash: 'h' }
}

function floorsAt(): { readonly floors: DueFloors; pass(this: void, ms: number): void } {
  let nowMs = 5
  return { floors: new DueFloors(() => nowMs), pass: (ms) => (nowMs += ms) }
}

it('a claim begins where the last one ended, of the same queue and policy only', () => {
  const { floors } = floorsAt()
  expect(floors.of(REF)).toBe(NO_FLOOR)
  floors.claimed(REF, [rowOf(7), rowOf(9)], NO_FLOOR)
  expect(floors.of(REF)).toBe(9)
  expect(floors.of({ ...REF, policyHash: 'q' })).toBe(NO_FLOOR)
})

it('a claim begins anew a second after the last one that began anew, however many were between', () => {
  const { floors, pass } = floorsAt()
  floors.claimed(REF, [rowOf(1)], NO_FLOOR)
  for (let due = 2; due < 6; due++) {
    pass(200)
    const from = floors.of(REF)
    expect(from).toBe(due - 1)
    floors.claimed(REF, [rowOf(due)], from)
  }
  pass(199)
  expect(floors.of(REF)).toBe(5)
  pass(1)
  expect(floors.of(REF)).toBe(NO_FLOOR)
  floors.claimed(REF, [rowOf(6)], NO_FLOOR)
  expect(floors.of(REF)).toBe(6)
})

it('a claim that ended with a retry says nothing of fresh tasks', () => {
  const { floors } = floorsAt()
  floors.claimed(REF, [rowOf(7)], NO_FLOOR)
  floors.claimed(REF, [rowOf(8, 1)], 7)
  expect(floors.of(REF)).toBe(NO_FLOOR)
})

it('a task that this process lets wait before the place is not passed over', () => {
  const { floors } = floorsAt()
  floors.claimed(REF, [rowOf(7)], NO_FLOOR)
  floors.written([rowOf(7), rowOf(8)])
  expect(floors.of(REF)).toBe(7)
  floors.written([rowOf(6)])
  expect(floors.of(REF)).toBe(NO_FLOOR)
})
