/** `retry` of `reprise/slim`: cancellation at every point of waiting, limits, wrong use, and the host's own timers. */
import { isRepriseError, RepriseError } from 'reprise'
import { retry, type SlimContext, type SlimPolicyInput } from 'reprise/slim'
import { virtualClock } from 'reprise/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { listenersOf, turn, watch } from './call-fixture.js'

const down = new Error('down')
const reason = { because: 'the user left' }
const noJitter: SlimPolicyInput = { attempts: 5, jitter: false }

/** Fails with these errors, one after the other, then succeeds. */
function failing(...errors: readonly unknown[]) {
  const operation = (): string => {
    const call = operation.calls++
    if (call < errors.length) throw errors[call]
    return 'done'
  }
  operation.calls = 0
  return operation
}

/** One attempt, settled by the test. It ignores its signal, but remembers it. */
class Manual {
  signal: AbortSignal | undefined
  resolve: (value: string) => void = () => {}
  reject: (error: unknown) => void = () => {}

  readonly operation = ({ signal }: SlimContext): Promise<string> =>
    new Promise((resolve, reject) => {
      this.signal = signal
      this.resolve = resolve
      this.reject = reject
    })
}

/** A call on a clock of its own, with a signal to abort it by. */
function start(operation: (context: SlimContext) => unknown, policy: SlimPolicyInput = noJitter) {
  const clock = virtualClock()
  const controller = new AbortController()
  const { signal } = controller
  const watched = watch(Promise.resolve(retry(operation, policy, { clock, signal })), clock)
  const abort = async (): Promise<void> => {
    controller.abort(reason)
    await turn()
    expect(watched.error).toBe(reason)
    expect(watched.atMs).toBe(clock.monotonicMs())
    expect(clock.pending).toBe(0)
    expect(listenersOf(signal)).toBe(0)
  }
  return { clock, controller, signal, watched, abort }
}

describe('a slim call', () => {
  test('gives what the operation gives, and leaves nothing behind', async () => {
    const { clock, signal, watched } = start(failing(down, down), { ...noJitter, attemptTimeout: '1s', timeout: '1m' })
    await clock.runAll()
    expect(watched.state).toBe('fulfilled')
    expect(watched.atMs).toBe(3000)
    expect([clock.pending, listenersOf(signal)]).toEqual([0, 0])
  })

  test('calls the operation at once, and takes what it throws as a failure', () => {
    let calls = 0
    const call = retry(() => {
      calls++
      throw down
    }, false)
    expect(calls).toBe(1)
    return expect(call).rejects.toBe(down)
  })

  test('that is aborted before its start makes no call', async () => {
    const operation = failing(down)
    const signal = AbortSignal.abort(reason)
    await expect(retry(operation, noJitter, { signal })).rejects.toBe(reason)
    expect(operation.calls).toBe(0)
    expect(listenersOf(signal)).toBe(0)
  })

  test.each([
    ['with no limit', noJitter],
    ['with limits', { ...noJitter, attemptTimeout: '10s', timeout: '60s' }],
  ] as const)('that is aborted during an attempt %s does not wait for it', async (_, policy) => {
    const manual = new Manual()
    const { clock, signal, abort } = start(manual.operation, policy)
    await clock.advance(10)
    expect(listenersOf(signal)).toBe(1)
    await abort()
    expect(manual.signal?.reason).toBe(reason)
    manual.reject(down)
    await turn()
  })

  test('that is aborted during a wait makes no further call', async () => {
    const operation = failing(down, down)
    const { clock, abort } = start(operation)
    await clock.advance(500)
    await abort()
    expect(operation.calls).toBe(1)
  })

  test('that is aborted by its own operation ends with the reason', async () => {
    const { clock, controller, watched } = start(() => {
      controller.abort(reason)
      throw down
    })
    await clock.runAll()
    expect(watched.error).toBe(reason)
  })

  test('that is aborted between a failure and the wait does not wait', async () => {
    const controller = new AbortController()
    const clock = virtualClock()
    const failed = Promise.reject(down)
    const call = watch(
      retry(() => failed, noJitter, { clock, signal: controller.signal }),
      clock,
    )
    for (let i = 0; i < 3; i++) await Promise.resolve()
    controller.abort(reason)
    await turn()
    expect(call.error).toBe(reason)
    expect(clock.pending).toBe(0)
  })

  test('that succeeds is not told to stop, and ignores an abort that comes too late', async () => {
    const manual = new Manual()
    const { clock, controller, watched } = start(manual.operation, { ...noJitter, timeout: '1m' })
    manual.resolve('done')
    await turn()
    controller.abort(reason)
    await clock.runAll()
    expect(watched.value).toBe('done')
    expect(manual.signal?.aborted).toBe(false)
  })

  test('goes on without an attempt that takes too long, and tells it', async () => {
    const manual = new Manual()
    const { clock, watched } = start(manual.operation, { ...noJitter, attempts: 2, attemptTimeout: '1s' })
    await clock.runAll()
    expect(manual.signal?.aborted).toBe(true)
    expect(watched.atMs).toBe(3000)
    expect(isRepriseError(watched.error, 'attempt_timeout')).toBe(true)
    expect(watched.error).toMatchObject({
      attempt: 2,
      timeoutMs: 1000,
      message: 'Attempt 2 of retry timed out after 1000 ms',
    })
  })

  test('ends at its timeout with the last failure as the cause', async () => {
    const manual = new Manual()
    const { clock, watched } = start(
      (context) => (context.attempt === 1 ? Promise.reject(down) : manual.operation(context)),
      {
        ...noJitter,
        timeout: '5s',
      },
    )
    await clock.runAll()
    expect(watched.atMs).toBe(5000)
    expect(watched.error).toMatchObject({ code: 'timeout', cause: down })
    expect(watched.error).toBeInstanceOf(RepriseError)
    expect(manual.signal?.aborted).toBe(true)
  })

  test('retries only what its words and functions list', async () => {
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET' })
    const policy: SlimPolicyInput = { ...noJitter, retryOn: ['network', (error) => error === down] }
    const { clock, watched } = start(failing(reset, down, new TypeError('a bug')), policy)
    await clock.runAll()
    expect(watched.error).toEqual(new TypeError('a bug'))
    expect(watched.atMs).toBe(3000)
  })

  test('rejects with the error of a predicate that throws', async () => {
    const bug = new Error('in the predicate')
    const retryOn = [
      () => {
        throw bug
      },
    ]
    await expect(retry(() => Promise.reject(down), { retryOn })).rejects.toBe(bug)
  })
})

describe('wrong use of the slim retry', () => {
  const wrong = async (policy: unknown): Promise<unknown> => {
    const error: unknown = await retry(() => 1, policy as SlimPolicyInput).catch((thrown: unknown) => thrown)
    expect(isRepriseError(error, 'invalid_policy')).toBe(true)
    return (error as { problems: readonly { path: string; message: string }[] }).problems.map(
      ({ path, message }) => `${path}: ${message}`,
    )
  }

  test('names every problem of a policy with its place', async () => {
    expect(
      await wrong({
        attempts: 0,
        initialDelay: '5 parsecs',
        jitter: 'some',
        backoff: { type: 'exponential', base: 0 },
      }),
    ).toEqual([
      'attempts: 0 is not a whole number from 1 to 1000',
      'backoff.base: 0 is not a number above 0',
      `initialDelay: "5 parsecs" is not a duration from 0ms to 365d such as '500ms', '30s' or '1h30m'`,
      'jitter: "some" is not one of none, proportional, full, equal, decorrelated, true, false',
    ])
  })

  test('says which fields there are when one is unknown', async () => {
    expect(await wrong({ breaker: {} })).toEqual([
      'breaker: unknown field: there are attempts, backoff, initialDelay, maxDelay, jitter, jitterFactor, retryOn, ' +
        'maxTotalDelay, attemptTimeout, timeout, maxRetryAfter',
    ])
    expect(await wrong({ backoff: { type: 'linear', base: 2 } })).toEqual([
      'backoff.base: unknown field: there are increment',
    ])
  })

  test.each([
    ['backoff: "exponental" is not one of fixed, linear, exponential, fibonacci, custom', { backoff: 'exponental' }],
    ['backoff: undefined is not one of fixed, linear, exponential, fibonacci, custom', { backoff: 5 }],
    ['backoff.delays: null is not a list with durations', { backoff: { type: 'custom' } }],
    ['backoff.delays[1]: true is not a duration from 0ms to 365d', { backoff: { type: 'custom', delays: [1, true] } }],
    ['retryOn: "network" is not a list', { retryOn: 'network' }],
    ['retryOn[0]: "netwrok" is not one of network, timeout, server_error, rate_limit', { retryOn: ['netwrok'] }],
    ['retryOn[0]: an object is not one of network', { retryOn: [{ pattern: 'x' }] }],
    ['attempts: "3" is not a whole number', '3'],
    ['jitterFactor: 2 is not a number from 0 to 1', { jitterFactor: 2 }],
  ])('is refused: %s', async (message, policy) => {
    expect(await wrong(policy)).toEqual([expect.stringContaining(message)])
  })

  test('is refused: no function, or an option that is none', async () => {
    await expect(retry('x' as never)).rejects.toThrow('The operation must be a function')
    await expect(retry(() => 1, {}, { attempts: 3 } as never)).rejects.toThrow(
      'attempts: unknown option: there are signal, clock, random',
    )
    const controller = new AbortController()
    await expect(retry(() => 1, {}, { signal: controller as never })).rejects.toThrow('addEventListener')
  })
})

describe('the timers of the host, in the slim retry,', () => {
  afterEach(() => vi.useRealTimers())

  test('hold waits that are longer than one of them', async () => {
    vi.useFakeTimers()
    const operation = failing(down)
    const call = watch(retry(operation, { ...noJitter, initialDelay: '30d', maxDelay: '30d' }))
    await vi.advanceTimersByTimeAsync(30 * 86_400_000 - 1)
    expect([call.state, operation.calls]).toEqual(['pending', 1])
    await vi.advanceTimersByTimeAsync(1)
    expect([call.state, operation.calls]).toEqual(['fulfilled', 2])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('are let go of when the call ends', async () => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const options = { signal: controller.signal }
    const waiting = watch(retry(failing(down), noJitter, options))
    const running = watch(retry(() => new Promise(() => {}), { attemptTimeout: '1m', timeout: '2m' }, options))
    await vi.advanceTimersByTimeAsync(1)
    expect(vi.getTimerCount()).toBe(2)
    controller.abort(reason)
    await vi.advanceTimersByTimeAsync(0)
    expect([waiting.error, running.error]).toEqual([reason, reason])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('are real ones unless a clock is given', async () => {
    const operation = failing(down)
    const startMs = performance.now()
    await retry(operation, { ...noJitter, initialDelay: 20 })
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(20)
    expect(operation.calls).toBe(2)
  })
})
