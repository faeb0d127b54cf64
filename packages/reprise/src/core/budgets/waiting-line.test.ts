import { describe, expect, it } from 'vitest'
import { type Place, WaitingLine, type Waiter } from './waiting-line.js'

const waiter = (name: string, lastStartMs = Infinity): Waiter & { readonly name: string } => ({
  name,
  cost: 1,
  deadlineMs: Infinity,
  attemptTimeoutMs: undefined,
  lastStartMs,
  wake: () => expect.unreachable('a line only says whose turn it is'),
})

/** A line of those named, who have until the time given. */
const lineOf = (...names: readonly (string | [string, number])[]) => {
  const line = new WaitingLine()
  const places = names.map((entry) => line.join(typeof entry === 'string' ? waiter(entry) : waiter(...entry)))
  /** Who joined as the nth leaves. */
  const leave = (index: number): void => places.slice(index, index + 1).forEach((place) => line.leave(place))
  return { line, leave }
}
const nameOf = (place: Place | undefined): string | undefined => (place?.waiter as { name?: string } | undefined)?.name
/** Whose turn it is, one after the other, until nobody is left. */
const served = (line: WaitingLine, now = 0): (string | undefined)[] => {
  const names: (string | undefined)[] = []
  for (let place = line.next(now); place !== undefined; place = line.next(now)) {
    names.push(nameOf(place))
    line.leave(place)
  }
  return names
}

describe('a line', () => {
  it('has nobody in it at first', () => {
    const line = new WaitingLine()
    expect([line.size, line.next(0)]).toEqual([0, undefined])
  })

  it('is served first come, first served', () => {
    const { line } = lineOf('a', 'b', 'c')
    expect(line.size).toBe(3)
    expect(nameOf(line.next(0))).toBe('a')
    expect(nameOf(line.next(0))).toBe('a')
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

  it('can be joined again after everybody has left', () => {
    const { line, leave } = lineOf('a', 'b')
    leave(1)
    leave(0)
    line.join(waiter('c'))
    expect(served(line)).toEqual(['c'])
  })

  it('still serves who can just make it', () => {
    const { line } = lineOf(['a', 100], 'b')
    expect(nameOf(line.next(100))).toBe('a')
  })

  it('passes over whose time has run out, and goes on with the newest', () => {
    const { line, leave } = lineOf(['a', 100], 'b', 'c')
    expect(nameOf(line.next(101))).toBe('c')
    expect(line.size).toBe(2)
    leave(0)
    expect(line.size).toBe(2)
    line.join(waiter('d'))
    expect(served(line, 101)).toEqual(['d', 'c', 'b'])
  })

  it('passes over the newest too when their time has run out', () => {
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

  it('is in order again when the last was passed over', () => {
    const { line } = lineOf(['a', 100])
    expect(line.next(101)).toBeUndefined()
    line.join(waiter('b'))
    line.join(waiter('c'))
    expect(served(line, 101)).toEqual(['b', 'c'])
  })

  it('stays in order when somebody leaves whose time has run out before anybody looked', () => {
    const { line, leave } = lineOf(['a', 100], 'b', 'c')
    leave(0)
    expect(served(line, 101)).toEqual(['b', 'c'])
  })
})
