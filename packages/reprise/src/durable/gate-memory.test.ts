/** Gates of several processes, with transactions that are undone, against one gate that hears everything once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Breaker } from '../core/breaker.js'
import { tokenBucket } from '../core/budgets/token-bucket.js'
import type { Json } from '../ledger/records.js'
import { GateMemory } from './gate-memory.js'
import { SharedBreaker } from './shared-breaker.js'

const POLICY = { key: 'k', failureThreshold: 3, recoveryTimeoutMs: 10, halfOpenMaxCalls: 2 }
const REFUSED = -1

/** A transaction: locked by nobody else, since a test does one after another. */
class Process {
  readonly changes: string[] = []
  readonly breaker: SharedBreaker
  private readonly memory: GateMemory

  constructor(stored: Json | undefined) {
    this.breaker = new SharedBreaker('k', POLICY, (from, to) => this.changes.push(`${from}→${to}`))
    this.memory = new GateMemory(this.breaker, stored)
    this.breaker.begin()
  }

  /** What is to be committed. */
  decide(ledger: Json | undefined, act: (breaker: Breaker) => void): Json {
    this.memory.refresh(ledger, false)
    act(this.breaker)
    return JSON.parse(JSON.stringify(this.memory.record())) as Json
  }

  /** As when the function that decides throws. */
  decideAndThrow(ledger: Json | undefined, act: (breaker: Breaker) => void): void {
    this.memory.refresh(ledger, false)
    act(this.breaker)
  }
}

type Act = 'admit' | 'success' | 'failure' | 'giveBack'
const step = fc.record({
  process: fc.nat({ max: 3 }),
  act: fc.constantFrom<Act>('admit', 'admit', 'success', 'failure', 'failure', 'giveBack'),
  which: fc.nat({ max: 20 }),
  passesMs: fc.constantFrom(0, 0, 1, 5, 10),
  undone: fc.nat({ max: 2 }),
  restarts: fc.boolean(),
  throws: fc.boolean(),
})

describe('a breaker of several processes', () => {
  it('is the breaker that one process would have, whoever hears of an end and however often a transaction is undone', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const one = new Breaker('k', POLICY)
        const processes = new Map<number, Process>()
        const epochs: [number, number][] = []
        let ledger: Json | undefined
        let now = 0
        for (const { process: index, act, which, passesMs, undone, restarts, throws } of steps) {
          now += passesMs
          const process = (restarts ? undefined : processes.get(index)) ?? new Process(ledger)
          processes.set(index, process)
          const [epoch, own] =
            act === 'admit' ? [0, 0] : (epochs.splice(which % (epochs.length || 1), 1)[0] ?? [REFUSED, REFUSED])
          if (epoch === REFUSED) continue
          const admitted = { here: REFUSED, there: REFUSED }
          const tell = (breaker: Breaker, of: number, where: 'here' | 'there'): void => {
            if (act === 'admit') admitted[where] = breaker.admit(now)
            else if (act === 'failure') breaker.failure(of, now)
            else breaker[act](of)
          }
          const here = (breaker: Breaker): void => tell(breaker, epoch, 'here')
          for (let time = 0; time < undone; time++) process.decide(ledger, here)
          if (throws) process.decideAndThrow(ledger, here)
          ledger = process.decide(ledger, here)
          tell(one, own, 'there')
          expect(admitted.here === REFUSED).toBe(admitted.there === REFUSED)
          if (admitted.here !== REFUSED) epochs.push([admitted.here, admitted.there])
          expect(ledger).toMatchObject(one.snapshot())
        }
      }),
    )
  })
})

describe('what a process knows of a gate', () => {
  it('is as the gate was made while the ledger has nothing of it', () => {
    const bucket = tokenBucket({ capacity: 5, refillPerSecond: 0 })
    const memory = new GateMemory(bucket, undefined)
    const request = {
      key: 'k',
      attempt: 1,
      launch: 1,
      kind: 'retry',
      ref: { name: 'b', cost: 1 },
      now: 0,
      deadlineMs: Infinity,
    } as const
    const decide = (): Json => {
      memory.refresh(undefined, false)
      bucket.allowAttempt(request)
      return memory.record() as Json
    }
    const first = decide()
    expect(decide()).toEqual(first)
  })

  it('is told again if others have written meanwhile what it wrote itself, in a transaction that was undone', () => {
    const ended = (process: Process, ledger: Json): Json => process.decide(ledger, (breaker) => breaker.failure(0, 0))
    const made = new Process(undefined).decide(undefined, () => undefined)
    const [one, other] = [new Process(made), new Process(made)]
    ended(one, made)
    const committed = ended(other, made)
    expect(ended(one, committed)).toMatchObject({ failures: 2 })
  })

  it('keeps what calls beside the ledger have used', () => {
    const process = new Process(undefined)
    const ledger = process.decide(undefined, () => undefined)
    process.breaker.failure(0, 0)
    expect(process.decide(ledger, () => undefined)).toMatchObject({ failures: 1 })
  })
})

describe('changes of a breaker', () => {
  const trip = (breaker: Breaker): void => breaker.open(0)

  it('are told once they are committed, and not if they were undone', () => {
    const process = new Process(undefined)
    const ledger = process.decide(undefined, () => undefined)
    process.decide(ledger, trip)
    expect(process.changes).toEqual([])
    process.decide(ledger, () => undefined)
    process.breaker.announce()
    expect(process.changes).toEqual([])
    process.decide(ledger, trip)
    process.breaker.announce()
    process.breaker.announce()
    expect(process.changes).toEqual(['closed→open'])
  })

  it('are told by a process that learns of them, and not by one that began with them', () => {
    const [one, other] = [new Process(undefined), new Process(undefined)]
    const ledger = one.decide(undefined, trip)
    const late = new Process(ledger)
    for (const process of [other, late]) {
      process.decide(ledger, () => undefined)
      process.breaker.announce()
    }
    expect(other.changes).toEqual(['closed→open'])
    expect(late.changes).toEqual([])
  })
})

describe('a state that cannot be', () => {
  it('is refused by name', () => {
    const { breaker } = new Process(undefined)
    const state = breaker.snapshot()
    for (const wrong of [{ epoch: -1 }, { probes: 0.5 }, { successes: NaN }, { failures: -1 }])
      expect(() => breaker.restore({ ...state, ...wrong })).toThrow('Breaker k cannot be restored from')
    expect(breaker.snapshot()).toEqual(state)
  })
})
