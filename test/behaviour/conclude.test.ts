/**
 * A budget with `conclude` hears the outcome of an allowed attempt exactly once, as soon as the caller knows it.
 */
import { describe, expect, test } from 'vitest'
import { allOf, type AttemptOutcome, type Budget, type Decision, type PolicyInput, perKey, unlimited } from 'reprise'
import { failing, Manual, ParkingLot, callFixture, wayFixture, turn, watch, WAYS } from './call-fixture.js'

const down = new Error('down')

/** Allows everything and writes down, in order, what it is asked and told. */
class Hearing implements Budget {
  readonly heard: string[] = []
  readonly outcomes: AttemptOutcome[] = []
  allowed = 0
  declare settle?: NonNullable<Budget['settle']>

  constructor(settles = false) {
    if (settles) this.settle = ({ launch }, { result, latencyMs }) => this.hear('settle', launch, result, latencyMs)
  }

  allowAttempt({ launch }: { launch: number }): Decision {
    this.allowed++
    this.hear('ask', launch)
    return { allowed: true, reason: '' }
  }

  conclude({ launch }: { launch: number }, outcome: AttemptOutcome): void {
    this.outcomes.push(outcome)
    this.hear('conclude', launch, outcome.result, outcome.latencyMs)
  }

  private hear(...words: readonly (string | number)[]): void {
    this.heard.push(words.join(' '))
  }
}

describe.each(WAYS)('the conclusion of an attempt of a call %s', (way) => {
  const concluded = async (
    policy: PolicyInput,
    act: (set: ReturnType<typeof wayFixture>, manual: Manual, controller: AbortController) => Promise<void>,
    api = new Hearing(),
  ): Promise<Hearing> => {
    const set = wayFixture(way, { budget: 'api', ...policy }, { budgets: { api } })
    const manual = new Manual()
    const controller = new AbortController()
    // Without an abort the call runs on the path that is for calls without a signal.
    set.call(manual.operation, act.length > 2 ? { signal: controller.signal } : undefined)
    await turn()
    await act(set, manual, controller)
    await set.clock.runAll()
    await turn()
    expect(api.outcomes).toHaveLength(api.allowed)
    return api
  }

  test('is told after a success', async () => {
    const { heard, outcomes } = await concluded({}, async ({ clock }, manual) => {
      await clock.advance(250)
      manual.at(0).resolve('done')
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 success 250'])
    expect(outcomes).toMatchObject([{ won: true, now: 250 }])
  })

  test('is told after a success of a call with time limits', async () => {
    const { heard } = await concluded({ attemptTimeout: '1s', timeout: '9s' }, async ({ clock }, manual) => {
      await clock.advance(250)
      manual.at(0).resolve('done')
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 success 250'])
  })

  test('is told after each failure, before the next ask', async () => {
    const { heard, outcomes } = await concluded({ attempts: 2 }, async ({ clock }, manual) => {
      await clock.advance(10)
      manual.at(0).reject(down)
      await clock.advance(1000)
      manual.at(1).reject(down)
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 failure 10', 'ask 2', 'conclude 2 failure 0'])
    expect(outcomes.map(({ error }) => error)).toEqual([down, down])
  })

  test('is told at the timeout of an operation that ignores its signal, and settle when that settles', async () => {
    const policy = { attempts: 2, initialDelay: 0, attemptTimeout: '1s' }
    const api = new Hearing(true)
    await concluded(
      policy,
      async ({ clock }, manual) => {
        await clock.advance(1000)
        expect(api.heard).toEqual(['ask 1', 'conclude 1 timeout 1000', 'ask 2'])
        await clock.advance(500)
        manual.at(1).resolve('done')
        await clock.advance(3500)
        manual.at(0).resolve('late')
      },
      api,
    )
    const second = ['conclude 2 success 500', 'settle 2 success 500']
    expect(api.heard).toEqual(['ask 1', 'conclude 1 timeout 1000', 'ask 2', ...second, 'settle 1 timeout 5000'])
  })

  test('is told at the timeout of an operation that never settles', async () => {
    const { heard } = await concluded({ attempts: 1, attemptTimeout: '1s' }, async ({ clock }) => {
      await clock.advance(5000)
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 timeout 1000'])
  })

  test('is told at an abort', async () => {
    const { heard } = await concluded({}, async ({ clock }, _manual, controller) => {
      await clock.advance(100)
      controller.abort()
      await clock.advance(5000)
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 aborted 100'])
  })

  test('is told at the deadline of the whole call', async () => {
    const { heard } = await concluded({ timeout: '1s' }, async ({ clock }) => {
      await clock.advance(5000)
    })
    expect(heard).toEqual(['ask 1', 'conclude 1 timeout 1000'])
  })

  test('is told to the budget of a hedge that lost when the other has won', async () => {
    const api = new Hearing(true)
    await concluded(
      { hedge: { delay: '1s', budget: 'api' } },
      async ({ clock }, manual) => {
        await clock.advance(1500)
        manual.at(0).resolve('done')
        await clock.advance(500)
        manual.at(1).resolve('late')
      },
      api,
    )
    const won = ['conclude 1 success 1500', 'settle 1 success 1500']
    expect(api.heard).toEqual(['ask 1', 'ask 2', ...won, 'conclude 2 aborted 500', 'settle 2 aborted 1000'])
  })

  test('is told beside the release of a decision', async () => {
    const heard: string[] = []
    const release = ({ result }: AttemptOutcome): void => void heard.push(`release ${result}`)
    const api: Budget = {
      allowAttempt: () => ({ allowed: true, reason: '', release }),
      conclude: (_, { result }) => void heard.push(`conclude ${result}`),
    }
    await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(() => 'x')
    expect(heard).toEqual(['conclude success', 'release success'])
  })

  test('has the deadline of its call in the request', async () => {
    const deadlines: number[] = []
    const api: Budget = {
      allowAttempt: () => ({ allowed: true, reason: '' }),
      conclude: ({ deadlineMs }) => void deadlines.push(deadlineMs),
    }
    const set = wayFixture(
      way,
      { attempts: 2, initialDelay: 0, attemptTimeout: '1s', timeout: '1500ms', budget: 'api' },
      { budgets: { api } },
    )
    const startMs = set.clock.wallMs()
    await set.play(() => new Promise(() => undefined))
    expect(deadlines).toEqual([startMs + 1500, startMs + 1500])
  })

  test('changes nothing when it throws or rejects', async () => {
    const api: Budget = {
      allowAttempt: () => ({ allowed: true, reason: '' }),
      conclude: ({ attempt }): void => {
        if (attempt === 1) throw new Error('broken conclude')
        return Promise.reject(new Error('broken later')) as never
      },
    }
    const { play } = wayFixture(way, { attempts: 2, attemptTimeout: '1s', budget: 'api' }, { budgets: { api } })
    expect((await play(() => 'fine')).value).toBe('fine')
    const failed = await play(failing(down))
    expect(failed.error).toBe(down)
    expect(failed.timeline?.attempts).toHaveLength(2)
    expect((await play(() => new Promise(() => undefined))).state).toBe('rejected')
  })

  test('reaches the budgets of perKey and allOf', async () => {
    const [own, member] = [new Hearing(), new Hearing(true)]
    const budgets = { api: perKey(() => own), both: allOf(unlimited(), member) }
    for (const budget of ['api', 'both']) {
      const set = wayFixture(way, { attempts: 1, attemptTimeout: '1s', budget }, { budgets })
      await set.play(() => new Promise(() => undefined))
    }
    expect(own.heard).toEqual(['ask 1', 'conclude 1 timeout 1000'])
    expect(member.heard).toEqual(['ask 1', 'conclude 1 timeout 1000'])
  })

  test('may abort the call of the attempt', async () => {
    const controller = new AbortController()
    const api: Budget = {
      allowAttempt: () => ({ allowed: true, reason: '' }),
      conclude: () => controller.abort('enough'),
    }
    const { play } = wayFixture(way, { attempts: 3, attemptTimeout: '1s', budget: 'api' }, { budgets: { api } })
    const call = await play(() => new Promise(() => undefined), { signal: controller.signal })
    expect(call.error).toBe('enough')
  })
})

describe('a hedge that asks two budgets', () => {
  const policy = { attempts: 1, budget: 'api', hedge: { delay: '1s', budget: { name: 'spare', share: true } } } as const

  test('concludes with both, before either is settled', async () => {
    const heard: string[] = []
    const named = (name: string): Budget => ({
      allowAttempt: () => ({ allowed: true, reason: '' }),
      conclude: ({ kind }, { result }) => void (kind === 'hedge' && heard.push(`${name} conclude ${result}`)),
      settle: ({ kind }, { result }) => void (kind === 'hedge' && heard.push(`${name} settle ${result}`)),
    })
    const { clock, executor } = callFixture(policy, { budgets: { api: named('api'), spare: named('spare') } })
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    manual.at(0).resolve('done')
    await turn()
    expect(heard).toEqual(['spare conclude aborted', 'api conclude aborted'])
    manual.at(1).resolve('late')
    await turn()
    expect(heard.slice(2)).toEqual(['spare settle aborted', 'api settle aborted'])
  })

  test.each(['refuses', 'throws'])('concludes the first grant as aborted when the second budget %s', async (way) => {
    const spare = new Hearing(true)
    const api: Budget = {
      allowAttempt: ({ kind }) => {
        if (kind === 'hedge' && way === 'throws') throw new Error('broken')
        return { allowed: kind === 'retry', reason: '' }
      },
    }
    const { clock, executor } = callFixture(policy, { budgets: { api, spare } })
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    expect(spare.heard).toEqual(['ask 2', 'conclude 2 aborted 0', 'settle 2 aborted 0'])
    manual.at(0).resolve('done')
    await turn()
  })
})

describe('a line', () => {
  /** Lets the first in line go when an attempt is concluded, whether or not its operation still runs. */
  class ConcludingLot extends ParkingLot {
    readonly concluded: string[] = []

    conclude({ launch }: { launch: number }, { result, latencyMs }: AttemptOutcome): void {
      this.concluded.push(`${launch} ${result} ${latencyMs}`)
      super.settle({ launch } as never, { result } as never)
    }

    override settle(): void {}
  }

  test('moves when an attempt times out, though its operation never settles', async () => {
    const lot = new ConcludingLot(1)
    const policy = { attempts: 1, attemptTimeout: '1s', budget: 'lot' }
    const { clock, executor } = callFixture(policy, { budgets: { lot } })
    const manual = new Manual()
    const first = watch(executor.run('job', manual.operation))
    const second = watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    expect([first.state, second.state, manual.calls]).toEqual(['rejected', 'pending', 2])
    manual.at(1).resolve('done')
    await turn()
    expect(second.value).toBe('done')
    expect(lot.concluded).toEqual(['1 timeout 1000', '1 success 0'])
  })

  test('is asked when to poll it after a conclusion', async () => {
    const lot = new ParkingLot(1)
    const api: Budget = Object.assign(lot, { conclude: () => void (lot.pollAtMs = 1500) })
    const { clock, executor } = callFixture({ attempts: 1, attemptTimeout: '1s', budget: 'api' }, { budgets: { api } })
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    watch(executor.run('job', manual.operation))
    await clock.advance(1500)
    expect(lot.polls).toEqual([1500])
    expect(manual.calls).toBe(2)
    await clock.runAll()
  })

  test('concludes as aborted a grant that came too late to be used', async () => {
    const lot = new ConcludingLot(1)
    const { clock, executor } = callFixture({ attempts: 1, budget: 'lot' }, { budgets: { lot } })
    const manual = new Manual()
    const controller = new AbortController()
    watch(executor.run('job', manual.operation))
    watch(executor.run('job', manual.operation, { signal: controller.signal }))
    await turn()
    manual.at(0).resolve('done')
    // The grant is handed out in the microtask in which the first attempt ends; the second has not started by then.
    await Promise.resolve()
    controller.abort('enough')
    await clock.runAll()
    await turn()
    expect(lot.concluded).toEqual(['1 success 0', '1 aborted 0'])
    expect([manual.calls, lot.free]).toEqual([1, 1])
  })
})
