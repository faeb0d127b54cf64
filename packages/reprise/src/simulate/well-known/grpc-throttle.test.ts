import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, BudgetRequest } from '../../core/budget.js'
import { GrpcThrottle } from './grpc-throttle.js'

const asking = (attempt: number): BudgetRequest => ({
  key: '',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'grpc', cost: 1 },
  now: 0,
  deadlineMs: 10_000,
})

function end(throttle: GrpcThrottle, result: AttemptOutcome['result'], times = 1): void {
  for (let i = 0; i < times; i++) throttle.settle(asking(1), { result, latencyMs: 1, won: false, now: 0 })
}

describe('the gRPC retry throttle', () => {
  it('allows retries above half of its 10 tokens and none at half or below', () => {
    const throttle = new GrpcThrottle()
    end(throttle, 'failure', 4)
    expect(throttle.tokens).toBe(6)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(true)
    end(throttle, 'timeout')
    expect(throttle.tokens).toBe(5)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(false)
    expect(throttle.allowAttempt(asking(1)).allowed).toBe(true)
  })

  it('gets a tenth of a token for a success, so that one failure needs ten', () => {
    const throttle = new GrpcThrottle()
    end(throttle, 'failure', 6)
    end(throttle, 'success', 10)
    expect(throttle.tokens).toBe(5)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(false)
    end(throttle, 'success')
    expect(throttle.tokens).toBe(5.1)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(true)
  })

  it('stays between no tokens and all of them', () => {
    const throttle = new GrpcThrottle()
    end(throttle, 'success')
    expect(throttle.tokens).toBe(10)
    end(throttle, 'failure', 20)
    expect(throttle.tokens).toBe(0)
  })

  it('takes nothing for an attempt that was called off', () => {
    const throttle = new GrpcThrottle()
    end(throttle, 'aborted', 8)
    expect(throttle.tokens).toBe(10)
  })

  it('costs nothing to ask', () => {
    const throttle = new GrpcThrottle()
    for (let i = 0; i < 20; i++) throttle.allowAttempt(asking(2))
    expect(throttle.tokens).toBe(10)
  })
})
