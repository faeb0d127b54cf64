/**
 * The breaker against a model that keeps everything it was told and derives its answer from that each time, under
 * random histories of concurrent attempts, hands on the switch, and restarts.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Breaker, type BreakerState, REFUSED } from '../../packages/reprise/src/core/breaker.js'
import type { BreakerPhase } from '../../packages/reprise/src/core/words.js'

interface Attempt {
  readonly epoch: number
  /** The stretch of the model's history it was admitted in. */
  readonly stretch: Stretch
}

/** From one change of phase to the next; `results` are those of attempts admitted in it. */
interface Stretch {
  readonly phase: BreakerPhase
  readonly results: ('success' | 'failure')[]
  running: number
}

class Model {
  stretch: Stretch = { phase: 'closed', results: [], running: 0 }
  openedAtMs = 0
  changes = 0
  private readonly policy: { failureThreshold: number; recoveryTimeoutMs: number; halfOpenMaxCalls: number }

  constructor(policy: Model['policy']) {
    this.policy = policy
  }

  enter(phase: BreakerPhase): void {
    if (phase !== this.stretch.phase) this.changes++
    this.stretch = { phase, results: [], running: 0 }
  }

  over(now: number): boolean {
    return this.stretch.phase === 'open' && now >= this.openedAtMs + this.policy.recoveryTimeoutMs
  }

  phase(now: number): BreakerPhase {
    return this.over(now) ? 'half_open' : this.stretch.phase
  }

  admit(now: number): boolean {
    if (this.over(now)) this.enter('half_open')
    const { phase, running } = this.stretch
    if (phase === 'open' || (phase === 'half_open' && running >= this.policy.halfOpenMaxCalls)) return false
    this.stretch.running++
    return true
  }

  end(stretch: Stretch, result: 'success' | 'failure' | 'nothing', now: number): void {
    if (stretch !== this.stretch) return
    stretch.running--
    if (result === 'nothing') return
    stretch.results.push(result)
    const successes = stretch.results.filter((each) => each === 'success').length
    const lastFailures = stretch.results.length - 1 - stretch.results.lastIndexOf('success')
    if (stretch.phase === 'half_open' ? result === 'failure' : lastFailures >= this.policy.failureThreshold)
      this.open(now)
    else if (stretch.phase === 'half_open' && successes >= this.policy.halfOpenMaxCalls) this.enter('closed')
  }

  open(now: number): void {
    this.openedAtMs = now
    this.enter('open')
  }
}

const policies = fc.record({
  failureThreshold: fc.integer({ min: 1, max: 4 }),
  recoveryTimeoutMs: fc.integer({ min: 1, max: 500 }),
  halfOpenMaxCalls: fc.integer({ min: 1, max: 3 }),
})
const move = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 })),
  act: fc.oneof(
    { weight: 8, arbitrary: fc.constant('admit' as const) },
    { weight: 5, arbitrary: fc.constant('failure' as const) },
    { weight: 4, arbitrary: fc.constant('success' as const) },
    { weight: 2, arbitrary: fc.constant('nothing' as const) },
    { weight: 1, arbitrary: fc.constantFrom('open' as const, 'reset' as const) },
  ),
  pick: fc.nat(),
})
const moves = fc.array(move, { maxLength: 120, size: 'max' })

it('a breaker does what a naive model of it does, and tells every change once', () => {
  fc.assert(
    fc.property(policies, moves, (policy, rows) => {
      const told: [BreakerPhase, BreakerPhase][] = []
      const breaker = new Breaker('k', { key: 'k', ...policy }, (from, to) => void told.push([from, to]))
      const model = new Model(policy)
      const running: Attempt[] = []
      let now = 0
      for (const { afterMs, act, pick } of rows) {
        now += afterMs
        if (act === 'admit') {
          const epoch = breaker.admit(now)
          expect(epoch !== REFUSED).toBe(model.admit(now))
          if (epoch !== REFUSED) running.push({ epoch, stretch: model.stretch })
        } else if (act === 'open') {
          breaker.open(now)
          model.open(now)
        } else if (act === 'reset') {
          breaker.reset()
          model.enter('closed')
        } else {
          const [attempt] = running.splice(pick % Math.max(1, running.length), 1)
          if (attempt === undefined) continue
          if (act === 'success') breaker.success(attempt.epoch)
          else if (act === 'failure') breaker.failure(attempt.epoch, now)
          else breaker.giveBack(attempt.epoch)
          model.end(attempt.stretch, act, now)
        }
        expect(breaker.phase(now)).toBe(model.phase(now))
        expect(breaker.refusesAt(now)).toBe(model.phase(now) === 'open')
        expect(breaker.closed).toBe(model.stretch.phase === 'closed')
        expect(told.length).toBe(model.changes)
      }
      told.forEach(([from, to], index) => {
        expect(from).toBe(told[index - 1]?.[1] ?? 'closed')
        expect(from).not.toBe(to)
      })
    }),
  )
})

it('a breaker whose probes all end never stays half-open: it can be asked again', () => {
  fc.assert(
    fc.property(policies, moves, (policy, rows) => {
      const breaker = new Breaker('k', { key: 'k', ...policy })
      let running: number[] = []
      let now = 0
      for (const { afterMs, act } of rows) {
        now += afterMs
        const epoch = breaker.admit(now)
        if (epoch !== REFUSED) running.push(epoch)
        if (act === 'failure') breaker.failure(running.shift() ?? REFUSED, now)
        if (act === 'success') breaker.success(running.shift() ?? REFUSED)
      }
      for (const epoch of running) breaker.giveBack(epoch)
      running = []
      expect(breaker.admit(now + policy.recoveryTimeoutMs)).not.toBe(REFUSED)
    }),
  )
})

it('a breaker restored while nothing runs answers as one that was never stopped, and never sooner', () => {
  fc.assert(
    fc.property(policies, moves, fc.nat(120), (policy, rows, cut) => {
      const make = () => new Breaker('k', { key: 'k', ...policy })
      const lasting = make()
      let resumed = make()
      let halfOpenAtCut = false
      let now = 0
      rows.forEach(({ afterMs, act }, index) => {
        now += afterMs
        if (index === cut) {
          const state = JSON.parse(JSON.stringify(resumed.snapshot())) as BreakerState
          halfOpenAtCut = state.phase === 'half_open'
          resumed = make()
          resumed.restore(state)
          expect(resumed.phase(now)).toBe(lasting.phase(now))
        }
        // After a cut in half-open the successes counted so far are gone, so the copy is stricter.
        if (halfOpenAtCut && index >= cut) return
        const [a, b] = [lasting.admit(now), resumed.admit(now)]
        expect(b === REFUSED).toBe(a === REFUSED)
        if (a === REFUSED) return
        for (const [breaker, epoch] of [[lasting, a] as const, [resumed, b] as const])
          if (act === 'failure') breaker.failure(epoch, now)
          else if (act === 'success') breaker.success(epoch)
          else breaker.giveBack(epoch)
        expect(resumed.snapshot()).toEqual(lasting.snapshot())
      })
    }),
  )
})
