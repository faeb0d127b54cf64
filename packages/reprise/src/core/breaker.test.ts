import { describe, expect, it } from 'vitest'
import { Breaker, type BreakerState, REFUSED } from './breaker.js'

const make = (failureThreshold = 3, halfOpenMaxCalls = 1) => {
  const changes: string[] = []
  const breaker = new Breaker(
    'api',
    { key: 'api', failureThreshold, recoveryTimeoutMs: 1000, halfOpenMaxCalls },
    (from, to) => void changes.push(`${from} → ${to}`),
  )
  return { breaker, changes }
}
const fail = (breaker: Breaker, times: number, now = 0): void => {
  for (let i = 0; i < times; i++) breaker.failure(breaker.admit(now), now)
}
const succeed = (breaker: Breaker, now = 0): void => breaker.success(breaker.admit(now))

describe('a closed breaker', () => {
  it('admits everything and has nothing to remember', () => {
    const { breaker, changes } = make()
    expect(breaker.key).toBe('api')
    for (let i = 0; i < 100; i++) expect(breaker.admit(i)).not.toBe(REFUSED)
    expect([breaker.closed, breaker.idle, breaker.phase(0), breaker.refusesAt(0)]).toEqual([
      true,
      true,
      'closed',
      false,
    ])
    expect(changes).toEqual([])
  })

  it('opens at the threshold of consecutive failures, not before', () => {
    const { breaker, changes } = make(3)
    fail(breaker, 2)
    expect([breaker.phase(0), breaker.closed, breaker.idle]).toEqual(['closed', true, false])
    fail(breaker, 1)
    expect([breaker.phase(0), breaker.closed, breaker.idle]).toEqual(['open', false, false])
    expect(changes).toEqual(['closed → open'])
  })

  it('forgets the failures at one success', () => {
    const { breaker } = make(3)
    fail(breaker, 2)
    succeed(breaker)
    expect(breaker.idle).toBe(true)
    fail(breaker, 2)
    expect(breaker.phase(0)).toBe('closed')
    fail(breaker, 1)
    expect(breaker.phase(0)).toBe('open')
  })

  it('opens at the first failure with a threshold of 1', () => {
    const { breaker } = make(1)
    fail(breaker, 1)
    expect(breaker.admit(0)).toBe(REFUSED)
  })

  it('learns nothing from an attempt that says nothing', () => {
    const { breaker } = make(2)
    fail(breaker, 1)
    breaker.giveBack(breaker.admit(0))
    fail(breaker, 1)
    expect(breaker.phase(0)).toBe('open')
  })

  it('opens only once however many attempts fail together', () => {
    const { breaker, changes } = make(2)
    const epochs = [0, 0, 0, 0].map(() => breaker.admit(0))
    for (const epoch of epochs) breaker.failure(epoch, 500)
    expect(changes).toEqual(['closed → open'])
    expect(breaker.refusesAt(1499)).toBe(true)
    expect(breaker.refusesAt(1500)).toBe(false)
  })

  it('needs nobody to listen', () => {
    const breaker = new Breaker('quiet', {
      key: undefined,
      failureThreshold: 1,
      recoveryTimeoutMs: 1,
      halfOpenMaxCalls: 1,
    })
    fail(breaker, 1)
    expect(breaker.phase(0)).toBe('open')
  })
})

describe('an open breaker', () => {
  it('refuses until the recovery time has passed since it opened', () => {
    const { breaker } = make(1)
    fail(breaker, 1, 250)
    expect(breaker.admit(250)).toBe(REFUSED)
    expect(breaker.admit(1249)).toBe(REFUSED)
    expect(breaker.admit(1250)).not.toBe(REFUSED)
  })

  it('knows whether a wait would end with it still open', () => {
    const { breaker } = make(1)
    fail(breaker, 1)
    expect(breaker.refusesAt(999)).toBe(true)
    expect(breaker.refusesAt(1000)).toBe(false)
  })

  it('counts as half-open once its time has passed, but tells so only when somebody is admitted', () => {
    const { breaker, changes } = make(1)
    fail(breaker, 1)
    expect([breaker.phase(999), breaker.phase(1000)]).toEqual(['open', 'half_open'])
    expect(changes).toEqual(['closed → open'])
    breaker.admit(1000)
    expect(changes).toEqual(['closed → open', 'open → half_open'])
  })

  it('ignores results of attempts that started before it opened', () => {
    const { breaker, changes } = make(1)
    const slow = breaker.admit(0)
    const slower = breaker.admit(0)
    fail(breaker, 1)
    breaker.success(slow)
    breaker.failure(slower, 900)
    expect(breaker.phase(999)).toBe('open')
    expect(breaker.phase(1000)).toBe('half_open')
    expect(changes).toEqual(['closed → open'])
  })
})

describe('a half-open breaker', () => {
  const halfOpen = (slots = 1) => {
    const made = make(1, slots)
    fail(made.breaker, 1)
    made.changes.length = 0
    return made
  }

  it('admits one probe at a time and closes at its success', () => {
    const { breaker, changes } = halfOpen()
    const probe = breaker.admit(1000)
    expect(breaker.admit(1000)).toBe(REFUSED)
    expect([breaker.phase(1000), breaker.refusesAt(1000), breaker.closed]).toEqual(['half_open', false, false])
    breaker.success(probe)
    expect([breaker.phase(1000), breaker.idle]).toEqual(['closed', true])
    expect(changes).toEqual(['open → half_open', 'half_open → closed'])
  })

  it('admits as many at a time as it has slots, and closes after as many successes', () => {
    const { breaker } = halfOpen(3)
    const probes = [0, 0, 0].map(() => breaker.admit(1000))
    expect(breaker.admit(1000)).toBe(REFUSED)
    breaker.success(probes[0] ?? REFUSED)
    expect(breaker.admit(1000)).not.toBe(REFUSED)
    expect(breaker.admit(1000)).toBe(REFUSED)
    breaker.success(probes[1] ?? REFUSED)
    expect(breaker.phase(1000)).toBe('half_open')
    breaker.success(probes[2] ?? REFUSED)
    expect(breaker.phase(1000)).toBe('closed')
  })

  it('closes after as many successes one after the other too', () => {
    const { breaker } = halfOpen(2)
    succeed(breaker, 1000)
    expect(breaker.phase(1000)).toBe('half_open')
    succeed(breaker, 1001)
    expect(breaker.phase(1001)).toBe('closed')
  })

  it('reopens at any failure, for a full period', () => {
    const { breaker, changes } = halfOpen(2)
    succeed(breaker, 1000)
    fail(breaker, 1, 1700)
    expect([breaker.admit(2699), breaker.phase(2699), breaker.phase(2700)]).toEqual([REFUSED, 'open', 'half_open'])
    expect(changes).toEqual(['open → half_open', 'half_open → open'])
    succeed(breaker, 2700)
    expect(breaker.phase(2700)).toBe('half_open')
  })

  it('gets the slot back of a probe that says nothing', () => {
    const { breaker } = halfOpen()
    for (let i = 0; i < 10; i++) {
      const probe = breaker.admit(1000)
      expect(probe).not.toBe(REFUSED)
      expect(breaker.admit(1000)).toBe(REFUSED)
      breaker.giveBack(probe)
    }
    succeed(breaker, 1000)
    expect(breaker.phase(1000)).toBe('closed')
  })

  it('stays half-open without a result, whatever the time', () => {
    const { breaker } = halfOpen()
    breaker.admit(1000)
    expect(breaker.phase(1e9)).toBe('half_open')
    expect(breaker.admit(1e9)).toBe(REFUSED)
    expect(breaker.phase(0)).toBe('half_open')
  })

  it('ignores results of the time before', () => {
    const { breaker } = make(1, 2)
    const early = breaker.admit(0)
    fail(breaker, 1)
    const probe = breaker.admit(1000)
    breaker.success(early)
    breaker.giveBack(early)
    expect(breaker.admit(1000)).not.toBe(REFUSED)
    expect(breaker.admit(1000)).toBe(REFUSED)
    breaker.failure(early, 1000)
    expect(breaker.phase(1000)).toBe('half_open')
    breaker.failure(probe, 1500)
    expect(breaker.phase(2499)).toBe('open')
  })

  it('is not closed by probes of an earlier half-open time', () => {
    const { breaker } = halfOpen(2)
    const slow = breaker.admit(1000)
    fail(breaker, 1, 1000)
    succeed(breaker, 2000)
    breaker.success(slow)
    expect(breaker.phase(2000)).toBe('half_open')
    breaker.giveBack(slow)
    expect(
      [breaker.admit(2000), breaker.admit(2000), breaker.admit(2000)].filter((epoch) => epoch === REFUSED),
    ).toHaveLength(1)
  })
})

describe('a breaker moved by hand', () => {
  it('opens for a full period, from closed and again from open', () => {
    const { breaker, changes } = make()
    breaker.open(100)
    expect([breaker.admit(1099), breaker.phase(1100)]).toEqual([REFUSED, 'half_open'])
    breaker.open(600)
    expect([breaker.admit(1599), breaker.phase(1600)]).toEqual([REFUSED, 'half_open'])
    expect(changes).toEqual(['closed → open'])
  })

  it('opens from half-open and forgets the probes', () => {
    const { breaker, changes } = make()
    breaker.open(0)
    const probe = breaker.admit(1000)
    breaker.open(1000)
    breaker.success(probe)
    expect(breaker.phase(1999)).toBe('open')
    expect(changes).toEqual(['closed → open', 'open → half_open', 'half_open → open'])
  })

  it('closes, forgets its failures, and ignores what was under way', () => {
    const { breaker, changes } = make(2)
    breaker.reset()
    expect(changes).toEqual([])
    const slow = breaker.admit(0)
    fail(breaker, 1)
    breaker.reset()
    expect(breaker.idle).toBe(true)
    breaker.failure(slow, 0)
    fail(breaker, 1)
    expect(breaker.phase(0)).toBe('closed')
    fail(breaker, 1)
    breaker.reset()
    expect([breaker.phase(0), breaker.idle]).toEqual(['closed', true])
    expect(changes).toEqual(['closed → open', 'open → closed'])
  })
})

describe('a breaker kept', () => {
  const copy = (breaker: Breaker) => {
    const other = make(3, 2)
    other.breaker.restore(JSON.parse(JSON.stringify(breaker.snapshot())) as BreakerState)
    return other
  }

  it('comes back closed with the failures it had', () => {
    const { breaker } = make(3)
    fail(breaker, 2)
    expect(breaker.snapshot()).toEqual({ phase: 'closed', failures: 2, openUntilMs: null })
    const other = copy(breaker)
    expect(other.breaker.phase(0)).toBe('closed')
    expect(other.changes).toEqual([])
    fail(other.breaker, 1)
    expect(other.breaker.phase(0)).toBe('open')
  })

  it('comes back open until the same time', () => {
    const { breaker } = make(3)
    fail(breaker, 3, 500)
    expect(breaker.snapshot()).toEqual({ phase: 'open', failures: 3, openUntilMs: 1500 })
    const other = copy(breaker)
    expect(other.changes).toEqual(['closed → open'])
    expect([other.breaker.admit(1499), other.breaker.phase(1500)]).toEqual([REFUSED, 'half_open'])
    expect(other.breaker.snapshot()).toEqual(breaker.snapshot())
  })

  it('comes back from half-open with all its slots free and no success counted', () => {
    const { breaker } = make(3, 2)
    fail(breaker, 3)
    succeed(breaker, 1000)
    breaker.admit(1000)
    expect(breaker.snapshot()).toEqual({ phase: 'half_open', failures: 0, openUntilMs: 1000 })
    const other = copy(breaker).breaker
    expect(other.phase(1000)).toBe('half_open')
    succeed(other, 1000)
    expect(other.phase(1000)).toBe('half_open')
    succeed(other, 1000)
    expect(other.phase(1000)).toBe('closed')
  })

  it('ignores what was under way when it was restored', () => {
    const { breaker } = make(3)
    const slow = breaker.admit(0)
    breaker.restore({ phase: 'closed', failures: 2, openUntilMs: null })
    breaker.failure(slow, 0)
    expect(breaker.snapshot().failures).toBe(2)
  })

  it('may probe at once when nothing says until when it is open', () => {
    const { breaker } = make()
    breaker.restore({ phase: 'open', failures: 3, openUntilMs: null })
    expect(breaker.phase(0)).toBe('half_open')
  })
})

describe('a breaker that is given nonsense to restore', () => {
  it.each([
    {},
    { phase: 'weird', failures: 0, openUntilMs: null },
    { phase: 'open', failures: -1, openUntilMs: 0 },
    { phase: 'open', failures: 1.5, openUntilMs: 0 },
    { phase: 'open', failures: 0, openUntilMs: Infinity },
  ])('refuses %o and stays as it was', (state) => {
    const { breaker, changes } = make()
    fail(breaker, 2)
    expect(() => breaker.restore(state as BreakerState)).toThrow('cannot be restored')
    expect(breaker.snapshot()).toEqual({ phase: 'closed', failures: 2, openUntilMs: null })
    expect(changes).toEqual([])
  })

  it('tells its listener only when it is what it will be', () => {
    const phases: string[] = []
    const policy = { key: 'api', failureThreshold: 3, recoveryTimeoutMs: 1000, halfOpenMaxCalls: 1 }
    const breaker: Breaker = new Breaker('api', policy, () => void phases.push(breaker.phase(500)))
    breaker.restore({ phase: 'open', failures: 3, openUntilMs: 1000 })
    expect(phases).toEqual(['open'])
  })
})

describe('the settings of a breaker', () => {
  const settings = { key: 'api', failureThreshold: 3, recoveryTimeoutMs: 1000, halfOpenMaxCalls: 1 }

  it('are compared by what they do, not by the key', () => {
    const { breaker } = make()
    expect(breaker.hasSettings({ ...settings, key: undefined })).toBe(true)
    expect(breaker.hasSettings({ ...settings, failureThreshold: 4 })).toBe(false)
    expect(breaker.hasSettings({ ...settings, recoveryTimeoutMs: 4 })).toBe(false)
    expect(breaker.hasSettings({ ...settings, halfOpenMaxCalls: 4 })).toBe(false)
  })
})
