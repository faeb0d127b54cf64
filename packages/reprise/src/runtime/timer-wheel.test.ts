import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Timer } from '../core/time.js'
import { TimerWheel, type WheelHost, type WheelLinks } from './timer-wheel.js'

const DAY_MS = 86_400_000
const HOST_MAX_MS = 2 ** 31 - 1

/** A host with one timer: what is armed is held until it has rung or `hold(false)` lets go of it. */
class FakeHost implements WheelHost {
  now: number
  /** How late the host rings. */
  lateMs = 0
  private armed: { readonly atMs: number; held: boolean } | undefined

  constructor(now = 0) {
    this.now = now
  }

  nowMs(): number {
    return this.now
  }

  arm(delayMs: number): void {
    if (!(Number.isInteger(delayMs) && delayMs >= 1 && delayMs <= HOST_MAX_MS)) throw new Error(`armed for ${delayMs}`)
    this.armed = { atMs: this.now + delayMs, held: true }
  }

  hold(alive: boolean): void {
    if (this.armed !== undefined) this.armed.held = alive
  }

  /** Whether the process would stay alive. */
  get alive(): boolean {
    return this.armed?.held === true
  }

  /** Lets time pass until `endMs`, ringing on the way; what the wheel throws is collected. */
  runUntil(wheel: TimerWheel, endMs: number, thrown: unknown[] = []): void {
    for (let armed = this.armed; armed !== undefined && armed.atMs + this.lateMs <= endMs; armed = this.armed) {
      this.now = Math.max(this.now, armed.atMs + this.lateMs)
      this.armed = undefined
      try {
        wheel.advance()
      } catch (error) {
        thrown.push(error)
      }
    }
    this.now = Math.max(this.now, endMs)
  }
}

interface TestTimer extends Timer, WheelLinks {}

const start = (now = 0) => {
  const host = new FakeHost(now)
  const wheel = new TimerWheel(host)
  const fired: Array<{ name: string; at: number }> = []
  const timer = (name: string, then: () => void = () => undefined): TestTimer => ({
    fire: () => {
      fired.push({ name, at: host.now })
      then()
    },
  })
  const names = (): string[] => fired.map(({ name }) => name)
  return { host, wheel, fired, names, timer }
}

/** The timer, which objects when the wheel looks at it more often: better than a test that hangs. */
function noMoreThan(reads: number, timer: TestTimer): TestTimer {
  let due = 0
  let left = reads
  return Object.defineProperty(timer, 'wheelDue', {
    get: () => {
      if (left-- === 0) throw new Error('The wheel goes round for ever')
      return due
    },
    set: (value: number) => {
      due = value
    },
  })
}

describe('the wheel', () => {
  it('arms no host timer while nothing is scheduled', () => {
    const { host, wheel, timer } = start()
    expect(host.alive).toBe(false)
    wheel.cancel(timer('never scheduled'))
    expect(host.alive).toBe(false)
  })

  it('fires at the first whole millisecond that is not early', () => {
    const { host, wheel, fired, timer } = start(10.7)
    wheel.schedule(timer('a'), 15.2)
    host.runUntil(wheel, 15.6)
    expect(fired).toEqual([])
    host.runUntil(wheel, 20)
    expect(fired[0]?.at).toBeGreaterThanOrEqual(15.2)
    expect(fired[0]?.at).toBeLessThan(17.2)
  })

  it('fires what is due already at the next tick, never within schedule', () => {
    const { host, wheel, names, timer } = start(1000)
    wheel.schedule(timer('past'), 3)
    wheel.schedule(timer('now'), 1000)
    wheel.schedule(timer('long past'), -Infinity)
    expect(names()).toEqual([])
    host.runUntil(wheel, 1002)
    expect(names().toSorted()).toEqual(['long past', 'now', 'past'])
  })

  it('fires after a wait longer than a host timer can hold, and then only once', () => {
    const { host, wheel, fired, timer } = start(0.5)
    const dues = [HOST_MAX_MS - 1, HOST_MAX_MS, HOST_MAX_MS + 1, 2 ** 32 + 7, 365 * DAY_MS]
    for (const due of dues) wheel.schedule(timer(String(due)), due)
    host.runUntil(wheel, 400 * DAY_MS)
    expect(fired.map(({ name }) => Number(name))).toEqual(dues)
    for (const { name, at } of fired) {
      expect(at).toBeGreaterThanOrEqual(Number(name))
      expect(at).toBeLessThan(Number(name) + 2)
    }
  })

  it('wakes the host seldom during a long wait', () => {
    const { host, wheel, timer } = start()
    let arms = 0
    const arm = host.arm.bind(host)
    host.arm = (delayMs) => {
      arms++
      arm(delayMs)
    }
    wheel.schedule(timer('a year'), 365 * DAY_MS)
    host.runUntil(wheel, 366 * DAY_MS)
    expect(arms).toBeLessThan(40)
  })

  it('outlives a wait beyond its last level', () => {
    const { host, wheel, names, timer } = start()
    wheel.schedule(noMoreThan(10_000, timer('far')), 64 ** 6 + 64 ** 5 + 3)
    host.runUntil(wheel, 64 ** 6 + 64 ** 5 + 2)
    expect(names()).toEqual([])
    host.runUntil(wheel, 64 ** 6 + 64 ** 5 + 10)
    expect(names()).toEqual(['far'])
  })

  it('moves a timer that is scheduled again', () => {
    const { host, wheel, fired, timer } = start()
    const moved = timer('moved')
    wheel.schedule(moved, 10)
    wheel.schedule(moved, 300)
    host.runUntil(wheel, 200)
    expect(fired).toEqual([])
    wheel.schedule(moved, 250)
    host.runUntil(wheel, 1000)
    expect(fired).toHaveLength(1)
    expect(fired[0]?.at).toBe(250)
    expect(host.alive).toBe(false)
  })

  it('lets the process end with the last timer, cancelled or fired, and holds it for the next', () => {
    const { host, wheel, timer } = start()
    const [a, b] = [timer('a'), timer('b')]
    wheel.schedule(a, 100)
    wheel.schedule(b, 60_000)
    expect(host.alive).toBe(true)
    host.runUntil(wheel, 200)
    expect(host.alive).toBe(true)
    wheel.cancel(b)
    wheel.cancel(b)
    expect(host.alive).toBe(false)
    wheel.schedule(a, 70_000)
    expect(host.alive).toBe(true)
    host.runUntil(wheel, 80_000)
    expect(host.alive).toBe(false)
  })

  it('a timer may schedule itself again, cancel its neighbour, and schedule others from fire', () => {
    const { host, wheel, names, timer } = start()
    const neighbour = timer('neighbour')
    let left = 3
    const again: TestTimer = timer('again', () => {
      wheel.cancel(neighbour)
      if (--left > 0) wheel.schedule(again, host.now)
      else wheel.schedule(timer('other'), host.now + 100)
    })
    wheel.schedule(again, 5)
    wheel.schedule(neighbour, 5)
    host.runUntil(wheel, 500)
    expect(names()).toEqual(['again', 'again', 'again', 'other'])
    expect(host.alive).toBe(false)
  })

  it('a timer that always schedules itself for now does not keep the wheel from returning', () => {
    const { host, wheel, fired, timer } = start()
    const restless: TestTimer = timer('restless', () => wheel.schedule(restless, host.now))
    wheel.schedule(restless, 1)
    host.lateMs = 1000
    host.runUntil(wheel, 1001)
    expect(fired.length).toBeLessThanOrEqual(1001)
  })

  it('a timer that throws loses nobody and delays nobody', () => {
    const { host, wheel, fired, timer } = start()
    const thrown: unknown[] = []
    for (let i = 0; i < 5; i++) {
      wheel.schedule(
        timer(`${i}`, () => {
          if (i === 1 || i === 2) throw new Error(`${i}`)
        }),
        i < 4 ? 10 : 11,
      )
    }
    host.runUntil(wheel, 20, thrown)
    expect(fired.map(({ name }) => name).toSorted()).toEqual(['0', '1', '2', '3', '4'])
    expect(thrown.length).toBeGreaterThan(0)
    expect(host.alive).toBe(false)
  })

  it('a time that is no number is refused and leaves the wheel as it was', () => {
    const { host, wheel, names, timer } = start()
    wheel.schedule(timer('good'), 10)
    try {
      wheel.schedule(timer('bad'), NaN)
    } catch {
      // An error is as good an answer as firing at once.
    }
    host.runUntil(wheel, 100)
    expect(names()).toContain('good')
    expect(host.alive).toBe(false)
  })

  it('for ever is a wait like others: held, cancelled, never fired', () => {
    const { host, wheel, names, timer } = start()
    const never = timer('never')
    wheel.schedule(never, Infinity)
    expect(host.alive).toBe(true)
    host.runUntil(wheel, 1000 * DAY_MS)
    expect(names()).toEqual([])
    wheel.cancel(never)
    expect(host.alive).toBe(false)
  })
})

// ── against a list of due times ──────────────────────────────────────────────────────────────────

type Command =
  | { readonly type: 'schedule'; readonly id: number; readonly delayMs: number }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'defer'; readonly id: number; readonly delayMs: number }
  | { readonly type: 'pass'; readonly ms: number; readonly lateMs: number; readonly lagMs: number }

const IDS = 12
const id = fc.integer({ min: 0, max: IDS - 1 })
const delayMs = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: -5, max: 300, noNaN: true }) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 63, 64, 65, 127, 128, 4095, 4096, 4097, 64 ** 3, 64 ** 4, 64 ** 5) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 10_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 365 * DAY_MS }) },
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('schedule' as const), id, delayMs }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const), id }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('defer' as const), id, delayMs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      ms: delayMs.map(Math.abs),
      lateMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 500, noNaN: true })),
      lagMs: fc.constantFrom(0, 0.25, 40),
    }),
  },
)
/** What a timer does when it fires: by id, a list of commands used up one by one. */
const reactions = fc.array(
  fc.array(
    command.filter((c) => c.type === 'schedule' || c.type === 'cancel'),
    { maxLength: 4 },
  ),
  {
    minLength: IDS,
    maxLength: IDS,
  },
)
const beginMs = fc.constantFrom(0, 0.9, 63, 64 ** 2 - 1, 123_456_789.25)

/** The wheel and a plain map of due times, side by side. */
class Side {
  readonly host: FakeHost
  readonly wheel: TimerWheel
  private readonly due = new Map<number, { at: number; sinceMs: number }>()
  /** Those of `due` that have taken no slot yet. */
  private readonly deferred = new Set<number>()
  private readonly timers: TestTimer[]
  private readonly reactions: Command[][]
  private lastTick = -Infinity

  constructor(beginAtMs: number, reactionsById: readonly Command[][]) {
    this.host = new FakeHost(beginAtMs)
    this.wheel = new TimerWheel(this.host)
    this.reactions = reactionsById.map((commands) => [...commands])
    this.timers = Array.from({ length: IDS }, (_, i) => ({ fire: () => this.fired(i) }))
  }

  apply(next: Command): void {
    if (next.type === 'pass') {
      this.takeDeferred(next.lagMs)
      this.host.lateMs = next.lateMs
      this.host.runUntil(this.wheel, this.host.now + next.ms)
      this.expectNobodyOverdue()
    } else if (next.type === 'defer') {
      const at = this.host.now + next.delayMs
      this.wheel.defer(this.timer(next.id), at)
      this.due.set(next.id, { at, sinceMs: this.host.now })
      this.deferred.add(next.id)
    } else {
      this.react(next)
    }
    expect(this.host.alive).toBe(this.due.size > this.deferred.size)
  }

  finish(): void {
    this.reactions.forEach((commands) => commands.splice(0))
    this.takeDeferred(0)
    this.host.lateMs = 0
    this.host.runUntil(this.wheel, this.host.now + 800 * DAY_MS)
    expect([...this.due.keys()]).toEqual([])
    expect(this.host.alive).toBe(false)
  }

  /** The turn ends: each deferred timer counts from a time that is later by `lagMs`. */
  private takeDeferred(lagMs: number): void {
    this.wheel.takeDeferred(lagMs)
    this.wheel.forgetDeferred()
    for (const timerId of this.deferred) {
      const { at, sinceMs } = this.due.get(timerId) as { at: number; sinceMs: number }
      this.due.set(timerId, { at: at + lagMs, sinceMs })
    }
    this.deferred.clear()
  }

  private timer(timerId: number): TestTimer {
    const timer = this.timers[timerId]
    if (timer === undefined) throw new Error(`no timer ${timerId}`)
    return timer
  }

  private fired(timerId: number): void {
    const entry = this.due.get(timerId)
    if (entry === undefined) throw new Error(`timer ${timerId} fired though nobody had scheduled it`)
    this.due.delete(timerId)
    expect(this.host.now).toBeGreaterThanOrEqual(entry.at)
    const tick = Math.ceil(entry.at)
    if (entry.at > entry.sinceMs) {
      expect(tick).toBeGreaterThanOrEqual(this.lastTick)
      this.lastTick = tick
    }
    const reaction = this.reactions[timerId]?.shift()
    if (reaction?.type === 'schedule' || reaction?.type === 'cancel') this.react(reaction)
  }

  private react(next: Exclude<Command, { type: 'pass' | 'defer' }>): void {
    const timer = this.timer(next.id)
    this.deferred.delete(next.id)
    if (next.type === 'cancel') {
      this.wheel.cancel(timer)
      this.due.delete(next.id)
    } else {
      const at = this.host.now + next.delayMs
      this.wheel.schedule(timer, at)
      this.due.set(next.id, { at, sinceMs: this.host.now })
    }
  }

  /** A tick is whole and the host waits at least one: what is due longer than two and the host's lateness has fired. */
  private expectNobodyOverdue(): void {
    for (const { at, sinceMs } of this.due.values()) {
      expect(Math.max(at, sinceMs) + 3 + this.host.lateMs).toBeGreaterThan(this.host.now)
    }
  }
}

describe('the wheel against a list of due times', () => {
  it('fires everything, in order of its tick, never early, nothing that was cancelled, and is held exactly while needed', () => {
    fc.assert(
      fc.property(beginMs, reactions, fc.array(command, { maxLength: 60 }), (beginAtMs, reactionsById, commands) => {
        const side = new Side(beginAtMs, reactionsById)
        for (const next of commands) side.apply(next)
        side.finish()
      }),
      { numRuns: 1000 },
    )
  })
})
