import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventQueue, SimulatedEvent } from './event-queue.js'

class Note extends SimulatedEvent {
  private readonly act: () => void

  constructor(act: () => void) {
    super()
    this.act = act
  }

  fire(): void {
    this.act()
  }
}

describe('virtual time', () => {
  it('fires in order of time, at equal times in the order of scheduling', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 50, noNaN: true })), (times) => {
        const events = new EventQueue(100)
        const fired: [number, number][] = []
        for (const [index, at] of times.entries()) events.schedule(new Note(() => fired.push([events.now, index])), at)
        events.run()
        const expected = times.map((at, index): [number, number] => [at, index]).toSorted((a, b) => a[0] - b[0])
        expect(fired).toEqual(expected)
      }),
    )
  })

  it('puts what is scheduled while it runs in its place', () => {
    const events = new EventQueue(10)
    const seen: string[] = []
    const note = (name: string): Note => new Note(() => seen.push(name))
    events.schedule(
      new Note(() => {
        events.schedule(note('later in the same millisecond'), 1.9)
        events.schedule(note('at once'), 1.5)
        events.schedule(note('before now is now'), 0)
      }),
      1.5,
    )
    events.schedule(note('planned'), 1.7)
    events.run()
    expect(seen).toEqual(['at once', 'before now is now', 'planned', 'later in the same millisecond'])
  })

  it('moves an event within the millisecond that runs', () => {
    const events = new EventQueue(10)
    const seen: [string, number][] = []
    const note = (name: string): Note => new Note(() => seen.push([name, events.now]))
    const moved = note('moved')
    events.schedule(new Note(() => events.schedule(moved, 1.9)), 1.1)
    events.schedule(moved, 1.3)
    events.schedule(note('planned'), 1.5)
    events.run()
    expect(seen).toEqual([
      ['planned', 1.5],
      ['moved', 1.9],
    ])
  })

  it('moves an event that is scheduled again, and forgets one that is cancelled or beyond the end', () => {
    const events = new EventQueue(10)
    const times: number[] = []
    const moved = new Note(() => times.push(events.now))
    events.schedule(moved, 2)
    events.schedule(moved, 5)
    const cancelled = new Note(() => times.push(-1))
    events.schedule(cancelled, 3)
    events.cancel(cancelled)
    events.schedule(new Note(() => times.push(-2)), 10)
    events.run()
    expect(times).toEqual([5])
    expect(events.now).toBe(10)
  })
})
