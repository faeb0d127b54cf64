import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { type Place, WaitingLine, type Waiter } from './waiting-line.js'

const REQUEST: BudgetRequest = {
  ...{ key: 'k', attempt: 2, launch: 2, kind: 'retry', ref: { name: 'b', cost: 1 } },
  ...{ now: 0, deadlineMs: Infinity },
}

/** An answer takes this long, which is more than a quarter of the waiter's patience. */
const ANSWER_MS = 300
const waiter = (name: string, lastStartMs = Infinity): Waiter & { readonly name: string } => ({
  name,
  request: REQUEST,
  cost: 1,
  joinedMs: 0,
  deadlineMs: lastStartMs + ANSWER_MS,
  patienceMs: 1000,
  wake: () => expect.unreachable('a line does not wake its waiters'),
})

/** A line of waiters by name, some with the last time at which they may start. */
const lineOf = (...names: readonly (string | [string, number])[]) => {
  const line = new WaitingLine()
  const places = names.map((entry) => line.join(typeof entry === 'string' ? waiter(entry) : waiter(...entry)))
  /** The waiter that joined as the nth leaves. */
  const leave = (index: number): void => places.slice(index, index + 1).forEach((place) => line.leave(place))
  return { line, leave }
}
const nameOf = (place: Place | undefined): string | undefined => (place?.waiter as { name?: string } | undefined)?.name
/** The waiters in the order of their turns, until the line is empty. */
const served = (line: WaitingLine, now = 0): (string | undefined)[] => {
  const names: (string | undefined)[] = []
  for (let place = line.next(now, ANSWER_MS); place !== undefined; place = line.next(now, ANSWER_MS)) {
    names.push(nameOf(place))
    line.leave(place)
  }
  return names
}

describe('a waiting line', () => {
  it('is empty at first', () => {
    const line = new WaitingLine()
    expect([line.size, line.peek(), line.next(0, ANSWER_MS)]).toEqual([0, undefined, undefined])
  })

  it('is served first come, first served', () => {
    const { line } = lineOf('a', 'b', 'c')
    expect(line.size).toBe(3)
    expect(nameOf(line.next(0, ANSWER_MS))).toBe('a')
    expect(nameOf(line.next(0, ANSWER_MS))).toBe('a')
    expect(served(line)).toEqual(['a', 'b', 'c'])
    expect(line.size).toBe(0)
  })

  it.each([
    [0, ['b', 'c', 'd']],
    [1, ['a', 'c', 'd']],
    [3, ['a', 'b', 'c']],
  ])('can be left at place %d, twice without harm', (index, rest) => {
    const { line, leave } = lineOf('a', 'b', 'c', 'd')
    leave(index)
    leave(index)
    expect(line.size).toBe(3)
    expect(served(line)).toEqual(rest)
  })

  it('can be joined again after all waiters have left', () => {
    const { line, leave } = lineOf('a', 'b')
    leave(1)
    leave(0)
    line.join(waiter('c'))
    expect(served(line)).toEqual(['c'])
  })

  it('still serves a waiter at the last time at which it may start', () => {
    const { line } = lineOf(['a', 100], 'b')
    expect(nameOf(line.next(100, ANSWER_MS))).toBe('a')
  })

  it('passes over a waiter whose time has run out, and goes on with the newest', () => {
    const { line, leave } = lineOf(['a', 100], 'b', 'c')
    expect(nameOf(line.next(101, ANSWER_MS))).toBe('c')
    expect(line.size).toBe(2)
    leave(0)
    expect(line.size).toBe(2)
    line.join(waiter('d'))
    expect(served(line, 101)).toEqual(['d', 'c', 'b'])
  })

  it('passes over the newest waiters too when their time has run out', () => {
    const { line } = lineOf(['a', 100], 'b', ['c', 50], ['d', 60])
    expect(served(line, 101)).toEqual(['b'])
  })

  it('is in order again once it has been empty', () => {
    const { line } = lineOf(['a', 100], 'b', 'c')
    expect(served(line, 101)).toEqual(['c', 'b'])
    line.join(waiter('d'))
    line.join(waiter('e'))
    expect(served(line, 101)).toEqual(['d', 'e'])
  })

  it('is in order again when its last waiter was passed over', () => {
    const { line } = lineOf(['a', 100])
    expect(line.next(101, ANSWER_MS)).toBeUndefined()
    line.join(waiter('b'))
    line.join(waiter('c'))
    expect(served(line, 101)).toEqual(['b', 'c'])
  })

  it('stays in order when a waiter whose time has run out leaves before its turn', () => {
    const { line, leave } = lineOf(['a', 100], 'b', 'c')
    leave(0)
    expect(served(line, 101)).toEqual(['b', 'c'])
  })

  it.each([
    ['what an answer takes', 300, 2700],
    ['a quarter of its patience if answers are faster', 10, 2750],
    ['its patience if answers take longer', 5000, 2000],
  ])('passes over a waiter with less time left than %s', (_, answerMs, lastStartMs) => {
    const line = new WaitingLine()
    line.join({ ...waiter('a'), deadlineMs: 3000 })
    expect(nameOf(line.next(lastStartMs, answerMs))).toBe('a')
    expect(line.next(lastStartMs + 1, answerMs)).toBeUndefined()
  })

  it('does not pass over a waiter in the instant in which it joins', () => {
    const line = new WaitingLine()
    line.join({ ...waiter('a'), joinedMs: 950, deadlineMs: 1000 })
    expect(nameOf(line.next(950, ANSWER_MS))).toBe('a')
    expect(line.next(951, ANSWER_MS)).toBeUndefined()
  })

  it('shows the waiter whose turn it is without passing over any', () => {
    const { line } = lineOf(['a', 100], 'b', 'c')
    expect([nameOf(line.peek()), line.size]).toEqual(['a', 3])
    line.next(101, ANSWER_MS)
    expect([nameOf(line.peek()), line.size]).toEqual(['c', 2])
  })
})
