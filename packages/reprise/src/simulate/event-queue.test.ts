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

  it('fires an event once, at its new time, that was cancelled and scheduled again in the millisecond that runs', () => {
    const events = new EventQueue(10)
    const seen: [string, number][] = []
    const note = (name: string): Note => new Note(() => seen.push([name, events.now]))
    const again = note('again')
    const act = new Note(() => {
      events.cancel(again)
      events.schedule(again, 1.9)
    })
    events.schedule(act, 1.1)
    events.schedule(again, 1.2)
    events.schedule(note('planned'), 1.5)
    events.run()
    expect(seen).toEqual([
      ['planned', 1.5],
      ['again', 1.9],
    ])
  })

  it('fires what a plain list of events would, whatever is scheduled, moved and cancelled in between', () => {
    const time = fc.integer({ min: 0, max: 80 }).map((quarters) => quarters / 4)
    const order = fc.record({ name: fc.nat(30), at: fc.option(time, { nil: undefined }) })
    const steps = fc.array(fc.array(order, { maxLength: 6 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(steps, (orders) => {
        const end = 18
        const events = new EventQueue(end)
        const list = new ListOfEvents(end)
        const fired = firings((fire) => new Note(fire), events, orders)
        events.run()
        const expected = firings((fire) => ({ fire }), list, orders)
        list.run()
        expect(fired).toEqual(expected)
      }),
    )
  })
})

interface Queue<E> {
  now: number
  schedule(event: E, atMs: number): void
  cancel(event: E): void
}

/** Schedules events (a time) and cancels others (none): the first list at the start, each firing the next list of them. */
function firings<E extends object>(
  make: (fire: () => void) => E,
  queue: Queue<E>,
  orders: readonly (readonly { readonly name: number; readonly at: number | undefined }[])[],
): [number, number][] {
  const fired: [number, number][] = []
  const left = [...orders]
  const obey = (): void => {
    for (const { name, at } of left.shift() ?? []) {
      const event = named[name]
      if (event === undefined) continue
      if (at === undefined) queue.cancel(event)
      else queue.schedule(event, at)
    }
  }
  const named: E[] = Array.from({ length: 31 }, (_, name) =>
    make(() => {
      fired.push([name, queue.now])
      obey()
    }),
  )
  obey()
  return fired
}

/** The same without a calendar: always the first of those that are due soonest. */
class ListOfEvents implements Queue<{ fire(): void }> {
  now = 0
  private readonly endMs: number
  private entries: { readonly event: { fire(): void }; readonly dueMs: number }[] = []

  constructor(endMs: number) {
    this.endMs = endMs
  }

  schedule(event: { fire(): void }, atMs: number): void {
    this.cancel(event)
    this.entries.push({ event, dueMs: Math.max(atMs, this.now) })
  }

  cancel(event: { fire(): void }): void {
    this.entries = this.entries.filter((entry) => entry.event !== event)
  }

  run(): void {
    for (;;) {
      const [next] = this.entries.toSorted((a, b) => a.dueMs - b.dueMs)
      if (next === undefined || next.dueMs >= this.endMs) return
      this.cancel(next.event)
      this.now = next.dueMs
      next.event.fire()
    }
  }
}
